package web

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

// shopScreen is how the shop's own database is read, and where somebody began to say it anew.
type shopScreen struct {
	Latest   *mappingPanel
	Versions []mappingLine
	Draft    *draftPanel
	Wrong    string   // why the shop cannot be read now
	Answers  bool     // it can, and has what the mapping names
	Unsorted []string // statuses that nobody has said a word about
}

// mappingPanel is the mapping in force.
type mappingPanel struct {
	mappingLine
	Engine, Zone, Currency, Unit string
	Kinds                        []kindLine
}

type mappingLine struct {
	Version   int64
	Name, By  string
	Confirmed string
	Since     moment
	Unseen    string // how it came to be in force when nobody has confirmed its rows
}

// kindLine says where one kind of record is.
type kindLine struct{ Title, Table, How string }

type draftPanel struct {
	Href, Next string
	Since      moment
}

func shopPage(v *visit) error {
	ctx := v.r.Context()
	versions, err := v.Setup.Versions(ctx)
	if err != nil {
		return err
	}
	names, err := v.Store.Names(ctx)
	if err != nil {
		return err
	}
	var p shopScreen
	who := &file{names: names}
	for _, m := range versions {
		p.Versions = append(p.Versions, v.mappingLine(m, who))
	}
	if len(versions) > 0 {
		p.Latest = panelOf(versions[0], p.Versions[0])
		if err := v.examineShop(&p); err != nil {
			return err
		}
	}
	draft, begun, err := v.Setup.Draft(ctx, v.who.PersonID)
	if err != nil {
		return err
	}
	if begun {
		p.Draft = &draftPanel{hrefOf(draft.Step), questionOf(draft.Step).title, v.moment(draft.ChangedAt)}
	}
	return v.show(http.StatusOK, "shop", screen{Title: "The shop's database", Section: "Settings", Page: p})
}

// examineShop asks the shop whether it still is as the mapping says.
func (v *visit) examineShop(p *shopScreen) error {
	latest, _, err := v.Setup.Latest(v.r.Context())
	if err == nil {
		p.Unsorted, err = setup.Health(v.r.Context(), latest.Mapped)
	}
	if err != nil {
		p.Wrong, err = explained(err)
		return err
	}
	p.Answers = true
	return nil
}

func (v *visit) mappingLine(m setup.Version, who *file) mappingLine {
	line := mappingLine{m.Version, legible(m.Name), who.actor(m.CreatedBy), who.actor(m.ConfirmedBy), v.moment(m.CreatedAt), ""}
	if by := countersign.ParseActor(m.ConfirmedBy); by.Kind == countersign.CLI {
		line.Confirmed, line.Unseen = "", "applied on the command line by "+legible(by.ID)+"; nobody has looked at the rows"
	}
	return line
}

func panelOf(m setup.Version, line mappingLine) *mappingPanel {
	p := &mappingPanel{mappingLine: line, Engine: engines[m.Mapped.Driver], Zone: legible(m.Mapped.Zone), Currency: m.Mapped.Currency, Unit: units[m.Mapped.Unit]}
	for _, k := range connector.Kinds {
		e, ok := m.Mapped.Entities[k]
		if !ok {
			p.Kinds = append(p.Kinds, kindLine{kindTitles[k], "", "not in this database"})
			continue
		}
		p.Kinds = append(p.Kinds, kindLine{kindTitles[k], legible(e.Table), judged(k, e)})
	}
	return p
}

// judged says by what the rows of a kind are judged.
func judged(k connector.Kind, e connector.Entity) string {
	status, named := e.Columns["status"]
	switch {
	case k == connector.Order:
		return "found by " + legible(e.Key)
	case named:
		return "by " + legible(status)
	case k == connector.Fulfillment:
		return "by the dates of sending and arriving"
	}
	return "every row that counts is " + meanings[string(without[k])]
}

// explained is an error in a sentence with what to do, for a place on a page. An error that is not for people goes on.
func explained(err error) (string, error) {
	e := answer.Told(err)
	if e == nil {
		return "", err
	}
	text := inWords(e)
	if e.Hint != "" {
		text += " " + stopped(capital(e.Hint))
	}
	return text, nil
}

// postShopBegin begins to say how the shop is read: from nothing, or from what is in force. Over a draft that is there it does
// nothing but go on with it.
func postShopBegin(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	ctx := v.r.Context()
	draft, begun, err := v.Setup.Draft(ctx, v.who.PersonID)
	if err != nil {
		return err
	}
	if begun {
		return v.back(hrefOf(draft.Step), "You had begun already; this is where you were.")
	}
	draft = setup.Draft{Step: setup.Connect, Mapping: connector.Mapping{Name: "shop", Zone: v.zone.String()}}
	if v.form("from") == "latest" {
		latest, ok, err := v.Setup.Latest(ctx)
		if err != nil && !ok {
			return err
		}
		if ok { // every question is answered, and each can be answered anew
			draft.Mapping, draft.Step = latest.Mapped, setup.Rows
			if latest.Mapped.DSN == "" {
				draft.Step = setup.Connect
			}
		}
	}
	if err := v.Setup.Keep(ctx, v.who.PersonID, draft); err != nil {
		return err
	}
	return v.back(hrefOf(draft.Step), "")
}

func postShopDiscard(v *visit) error {
	draft, _, err := v.Setup.Draft(v.r.Context(), v.who.PersonID)
	if err != nil {
		return err
	}
	if err := v.Setup.Drop(v.r.Context(), v.who.PersonID); err != nil {
		return err
	}
	v.forget(draft.Mapping.DSN)
	return v.back("/settings/shop", "What you had begun is thrown away. The mapping in force is as it was.")
}

// question is one step of the way from a connection to a mapping: what it shows, and what an answer does to the draft.
type question struct {
	step     setup.Step
	title    string
	template string
	ask      func(*wizard, int, shopStep) error
	take     func(*wizard) error
}

var questions []question

func init() { // a question shows others of the list
	questions = []question{
		{setup.Connect, "Connection", "shop_connect", showConnect, answerConnect},
		{setup.Tables, "Tables", "shop_tables", showTables, answerTables},
		{setup.Columns, "Columns", "shop_columns", showColumns, answerColumns},
		{setup.Money, "Money and time", "shop_money", showMoney, answerMoney},
		{setup.States, "What a status means", "shop_states", showStates, answerStates},
		{setup.Rows, "Rows, as they are read", "shop_rows", showRows, answerRows},
	}
}

func questionOf(s setup.Step) question {
	i := max(0, slices.IndexFunc(questions, func(q question) bool { return q.step == s }))
	return questions[i]
}

func hrefOf(s setup.Step) string { return "/settings/shop/" + string(s) }

// wizard is a visit to one question.
type wizard struct {
	*visit
	question
	draft setup.Draft
	kept  connector.DSN // what the draft led to when the page was asked for
}

// shopStep is what the pages of all questions have.
type shopStep struct {
	Rail        []railEntry
	Title       string
	Wrong, Hint string
	Here        string // the address of the question
	Mend        string // where to go when it is the mapping that is wrong
	Platform    string
}

type railEntry struct {
	Number      int
	Title, Href string // without an address the question comes later
	Current     bool
}

// asked finds the question of the address, and the draft. Without a draft, or beyond the first question that is open, it says
// where to go instead.
func (v *visit) asked() (w *wizard, instead string, err error) {
	step := setup.Step(v.r.PathValue("step"))
	if !slices.Contains(setup.Steps, step) {
		return nil, "", countersign.Errorf(countersign.NotFound, "There is no page at this address.").Try("Go to the settings, and to the shop's database.")
	}
	draft, begun, err := v.Setup.Draft(v.r.Context(), v.who.PersonID)
	switch {
	case err != nil:
		return nil, "", err
	case !begun:
		return nil, "/settings/shop", nil
	case slices.Index(setup.Steps, step) > slices.Index(setup.Steps, draft.Step):
		return nil, hrefOf(draft.Step), nil
	case draft.Lost != nil && step != setup.Connect:
		return nil, hrefOf(setup.Connect), nil
	}
	return v.wizard(step, draft), "", nil
}

func (v *visit) wizard(step setup.Step, draft setup.Draft) *wizard {
	return &wizard{visit: v, question: questionOf(step), draft: draft, kept: draft.Mapping.DSN}
}

func shopQuestion(v *visit) error {
	w, instead, err := v.asked()
	if err != nil || instead != "" {
		return v.orGo(instead, err)
	}
	return w.open(http.StatusOK, nil)
}

func postShopQuestion(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	w, instead, err := v.asked()
	if err != nil || instead != "" {
		return v.orGo(instead, err)
	}
	if err := w.take(w); err != nil {
		return w.open(0, err)
	}
	return nil
}

func (v *visit) orGo(instead string, err error) error {
	if err != nil {
		return err
	}
	return v.back(instead, "")
}

// open shows the question, with what was wrong about the answer. Where the shop cannot be asked, the page says so instead.
func (w *wizard) open(status int, wrong error) error {
	p := shopStep{Title: w.title, Rail: w.rail(), Platform: w.draft.Platform, Here: hrefOf(w.step)}
	if wrong != nil {
		e := answer.Told(wrong)
		if e == nil {
			return wrong
		}
		status, p.Wrong, p.Hint = answer.Status(e.Kind), inWords(e), stopped(capital(e.Hint))
	}
	err := w.ask(w, status, p)
	if e := answer.Told(err); e != nil {
		p.Wrong, p.Hint = inWords(e), stopped(capital(e.Hint))
		if strings.HasPrefix(e.Field, "entities.") {
			p.Mend = hrefOf(setup.Columns)
		}
		return w.draw(answer.Status(e.Kind), "shop_unreachable", p)
	}
	return err
}

// inWords is an error of a mapping as a sentence: whose column it is about, in the words of the pages.
func inWords(e *countersign.Error) string {
	for _, k := range connector.Kinds {
		if rest, ok := cutField(e.Field, k); ok {
			return kindTitles[k] + rest + ": " + stopped(e.Message)
		}
	}
	if e.Field == "dsn" {
		return stopped(capital(e.Message))
	}
	return sentence(e)
}

func (w *wizard) draw(status int, template string, page any) error {
	return w.visit.show(status, template, screen{Title: w.title + " · the shop's database", Section: "Settings", Page: page})
}

func (w *wizard) rail() (all []railEntry) {
	last := slices.Index(setup.Steps, w.draft.Step)
	for i, q := range questions {
		e := railEntry{Number: i + 1, Title: q.title, Current: q.step == w.step}
		if i <= last {
			e.Href = hrefOf(q.step)
		}
		all = append(all, e)
	}
	return all
}

// next keeps the answers and goes on to the question after this one.
func (w *wizard) next(say string) error {
	following := setup.Steps[slices.Index(setup.Steps, w.step)+1]
	w.draft.Step = following
	if err := w.Setup.Keep(w.r.Context(), w.who.PersonID, w.draft); err != nil {
		return err
	}
	if w.kept != w.draft.Mapping.DSN {
		w.forget(w.kept)
	}
	return w.back(hrefOf(following), say)
}

// forget removes the copy of exported files that a connection string led to, if nothing reads it any more. What somebody did is done
// whether or not that succeeds.
func (v *visit) forget(dsn connector.DSN) {
	if err := v.Setup.RemoveCopy(v.r.Context(), v.copies(), dsn); err != nil {
		v.Log.WarnContext(v.r.Context(), "a copy of exported files that nothing reads any more could not be removed", "error", err)
	}
}

// copies is the folder that copies of exported files are in.
func (v *visit) copies() string { return cmp.Or(v.Folder, os.TempDir()) }

// connected opens the shop as the draft says. Whoever gets it closes it.
func (w *wizard) connected() (*connector.Shop, connector.Catalog, error) {
	s, err := connector.Open(w.r.Context(), w.draft.Mapping)
	if err != nil {
		return nil, connector.Catalog{}, err
	}
	c, err := s.Catalog(w.r.Context())
	if err != nil {
		return nil, c, errors.Join(err, s.Close())
	}
	return s, c, nil
}
