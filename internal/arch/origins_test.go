package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// origins follows texts backwards through one package: through constants, variables, arguments, results and fields, to where
// they were written. Names are matched without types: two things of one name are taken for both, which can only find more.
type origins struct {
	calls     map[string][]site          // by what is called
	functions map[string][]*ast.FuncDecl // by name, methods among them
	files     map[*ast.FuncDecl]string   // where each stands
	globals   map[string][]origin        // what the package's own names are given
	fields    map[string][]origin        // what is put into a field of that name, in whatever struct
	seen      map[ast.Expr]bool          // what is being followed already, so that a circle ends
	trusted   string                     // a function whose result is not followed, empty for none
}

// site is a call, and the function whose names it uses.
type site struct {
	file source
	call *ast.CallExpr
	in   *ast.FuncDecl
}

// origin is an expression, or one of the results of a call, that became a name's or a field's value.
type origin struct {
	from ast.Expr
	at   int // which result
	in   *ast.FuncDecl
}

func newOrigins(files tree) *origins {
	o := &origins{calls: map[string][]site{}, functions: map[string][]*ast.FuncDecl{}, files: map[*ast.FuncDecl]string{}, globals: map[string][]origin{},
		fields: map[string][]origin{}, seen: map[ast.Expr]bool{}}
	structs := structsOf(files)
	for _, s := range files {
		for _, d := range s.syntax.Decls {
			in, isFunction := d.(*ast.FuncDecl)
			if isFunction {
				o.functions[in.Name.Name] = append(o.functions[in.Name.Name], in)
				o.files[in] = s.path
			}
			assigned(d, in, func(left ast.Expr, from origin) {
				switch left := left.(type) {
				case *ast.Ident:
					if !isFunction {
						o.globals[left.Name] = append(o.globals[left.Name], from)
					}
				case *ast.SelectorExpr:
					o.fields[left.Sel.Name] = append(o.fields[left.Sel.Name], from)
				}
			})
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					o.calls[called(n)] = append(o.calls[called(n)], site{s, n, in})
				case *ast.CompositeLit:
					o.filled(n, in, structs)
				}
				return true
			})
		}
	}
	return o
}

// trust takes what the package's function quoted returns for good, and complains unless there is one of that name, in that
// file.
func (o *origins) trust(file string) (broken []string) {
	o.trusted = quoter
	var elsewhere []string
	for _, in := range o.functions[quoter] {
		if at := o.files[in]; at != file {
			elsewhere = append(elsewhere, at)
		}
	}
	for _, functions := range o.functions {
		for _, in := range functions {
			for _, variable := range closures(in) {
				if variable == quoter {
					elsewhere = append(elsewhere, o.files[in])
				}
			}
		}
	}
	if len(o.functions[quoter]) != 1 || len(elsewhere) > 0 || len(o.globals[quoter]) > 0 {
		broken = append(broken, file+": only one function may be called "+quoter+", and it stands here; there are also "+strings.Join(elsewhere, ", "))
	}
	return broken
}

// filled notes what a struct literal puts into its fields, by name or by place, and the literals in a list of structs, which
// need not name their type again.
func (o *origins) filled(l *ast.CompositeLit, in *ast.FuncDecl, structs map[string]*ast.FieldList) {
	names := fieldNames(structs[typeName(l.Type)])
	for i, e := range l.Elts {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			key, _ := pair.Key.(*ast.Ident)
			if e, name = pair.Value, ""; key != nil {
				name = key.Name
			}
		}
		if name != "" {
			o.fields[name] = append(o.fields[name], origin{from: e, in: in})
		}
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
			o.filled(&ast.CompositeLit{Type: elementType(l.Type), Elts: inner.Elts}, in, structs)
		}
	}
}

// alien names the part of a text that does not stand in the program, empty if there is none.
func (o *origins) alien(e ast.Expr, in *ast.FuncDecl) string {
	if o.seen[e] {
		return ""
	}
	o.seen[e] = true
	switch e := e.(type) {
	case *ast.BasicLit:
		return ""
	case *ast.ParenExpr:
		return o.alien(e.X, in)
	case *ast.BinaryExpr:
		return o.each(in, e.X, e.Y)
	case *ast.IndexExpr:
		return o.alien(e.X, in)
	case *ast.SliceExpr:
		return o.alien(e.X, in)
	case *ast.CompositeLit:
		return o.each(in, e.Elts...)
	case *ast.Ident:
		return o.named(e.Name, in)
	case *ast.SelectorExpr:
		return o.field(e.Sel.Name)
	case *ast.CallExpr:
		return o.result(e, 0, in)
	}
	return "an expression that cannot be followed"
}

func (o *origins) each(in *ast.FuncDecl, parts ...ast.Expr) string {
	for _, part := range parts {
		if alien := o.alien(part, in); alien != "" {
			return alien
		}
	}
	return ""
}

func (o *origins) all(from []origin) string {
	for _, f := range from {
		alien := ""
		if call, ok := f.from.(*ast.CallExpr); ok && f.at > 0 {
			alien = o.result(call, f.at, f.in)
		} else {
			alien = o.alien(f.from, f.in)
		}
		if alien != "" {
			return alien
		}
	}
	return ""
}

// named follows a variable, a constant or a parameter: what it is given in its function, or if it is not the function's, in
// the package.
func (o *origins) named(name string, in *ast.FuncDecl) string {
	if name == "nil" {
		return ""
	}
	from, isParameter, alien := o.local(name, in)
	if alien != "" {
		return alien
	}
	if len(from) == 0 && !isParameter {
		from = o.globals[name]
	}
	if len(from) == 0 && !isParameter {
		return name
	}
	return o.all(from)
}

func (o *origins) local(name string, in *ast.FuncDecl) (from []origin, isParameter bool, alien string) {
	if in == nil {
		return nil, false, ""
	}
	assigned(in, in, func(left ast.Expr, value origin) {
		if isName(left, name) {
			from = append(from, value)
		}
	})
	if at := place(in.Type.Params, name); at >= 0 {
		return from, true, o.argument(in, at)
	}
	for literal, variable := range closures(in) {
		if at := place(literal.Type.Params, name); at >= 0 {
			isParameter = true
			if alien := o.handed(variable, at, literal.Type, in); alien != "" {
				return from, true, alien
			}
		}
	}
	return from, isParameter, ""
}

// argument follows what a function's callers hand it. Callers of an exported one may be anywhere; the methods that run
// statements are looked at wherever they are called.
func (o *origins) argument(f *ast.FuncDecl, at int) string {
	if runs, ok := takes[f.Name.Name]; ok && runs == at {
		return ""
	}
	if f.Name.IsExported() {
		return "an argument of " + f.Name.Name + ", which anybody may call"
	}
	return o.handed(f.Name.Name, at, f.Type, nil)
}

// handed follows one argument of every call by that name, in the package or in one function.
func (o *origins) handed(name string, at int, to *ast.FuncType, within *ast.FuncDecl) string {
	found := false
	for _, c := range o.calls[name] {
		if within != nil && c.in != within || !given(c.call, at) || !fits(to, len(c.call.Args)) {
			continue
		}
		found = true
		if alien := o.alien(c.call.Args[at], c.in); alien != "" {
			return alien
		}
	}
	if !found {
		return "an argument of " + name + ", which nothing here calls"
	}
	return ""
}

// result follows one result of a call.
func (o *origins) result(call *ast.CallExpr, at int, in *ast.FuncDecl) string {
	switch name := called(call); name {
	case "":
		return "what nobody can name returns"
	case o.trusted:
		return ""
	case "string", "append", "strings.Join":
		return o.each(in, call.Args...)
	case "strings.Replace":
		return o.each(in, call.Args[:3]...)
	case "make":
		return ""
	case "fmt.Sprintf":
		return o.formatted(call, in)
	default:
		return o.returned(call, name, at, in)
	}
}

// formatted follows the texts of a format. What is written as a number is one.
func (o *origins) formatted(call *ast.CallExpr, in *ast.FuncDecl) string {
	format, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "a format that is not written out"
	}
	text, _ := strconv.Unquote(format.Value)
	for _, arg := range call.Args[1:] {
		_, rest, _ := strings.Cut(text, "%")
		if rest == "" {
			return "a format with more arguments than verbs"
		}
		text = rest[1:]
		switch rest[0] {
		case 'd':
		case 's':
			if alien := o.alien(arg, in); alien != "" {
				return alien
			}
		default:
			return "%" + rest[:1] + " in a format"
		}
	}
	return ""
}

// returned follows what a function of the package, or a variable of this function that holds one, returns.
func (o *origins) returned(call *ast.CallExpr, name string, at int, in *ast.FuncDecl) string {
	found := false
	for _, f := range o.functions[name] {
		if f.Body == nil || !fits(f.Type, len(call.Args)) {
			continue
		}
		found = true
		if onlyNumbers(f.Type) {
			continue // whatever it makes, it makes of nothing that could be a word
		}
		if alien := o.returns(f.Body, at, f); alien != "" {
			return alien
		}
	}
	for literal, variable := range closures(in) {
		if variable == name {
			found = true
			if alien := o.returns(literal.Body, at, in); alien != "" {
				return alien
			}
		}
	}
	if !found {
		return "what " + name + " returns"
	}
	return ""
}

func (o *origins) returns(body *ast.BlockStmt, at int, in *ast.FuncDecl) (alien string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its returns are its own
		case *ast.ReturnStmt:
			switch {
			case alien != "":
			case len(n.Results) == 0:
				alien = "a result that its return does not name"
			case at < len(n.Results):
				alien = o.alien(n.Results[at], in)
			default:
				alien = o.all([]origin{{n.Results[0], at, in}})
			}
		}
		return true
	})
	return alien
}

// field follows everything that the package puts into a field of that name. An exported one can be filled by anybody.
func (o *origins) field(name string) string {
	switch {
	case ast.IsExported(name):
		return "the field " + name + ", which anybody may fill"
	case len(o.fields[name]) == 0:
		return "the field " + name
	}
	return o.all(o.fields[name])
}

// assigned visits everything that is given a value in a piece of code.
func assigned(code ast.Node, in *ast.FuncDecl, visit func(left ast.Expr, from origin)) {
	each := func(left, right []ast.Expr) {
		for i, l := range left {
			switch {
			case l == nil || len(right) == 0:
			case len(left) == len(right):
				visit(l, origin{from: right[i], in: in})
			default:
				visit(l, origin{from: right[0], at: i, in: in})
			}
		}
	}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			each(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, name := range n.Names {
				names = append(names, name)
			}
			each(names, n.Values)
		case *ast.RangeStmt:
			each([]ast.Expr{n.Key}, []ast.Expr{n.X})
			each([]ast.Expr{n.Value}, []ast.Expr{n.X})
		}
		return true
	})
}

// closures are the function literals of a function that a variable holds, with its name.
func closures(in *ast.FuncDecl) map[*ast.FuncLit]string {
	all := map[*ast.FuncLit]string{}
	if in != nil {
		assigned(in, in, func(left ast.Expr, from origin) {
			name, named := left.(*ast.Ident)
			if literal, ok := from.from.(*ast.FuncLit); ok && named {
				all[literal] = name.Name
			}
		})
	}
	return all
}

// called is the name of what is called: a method's alone, a function of strings or fmt with its package.
func called(call *ast.CallExpr) string {
	fun := call.Fun
	if generic, ok := fun.(*ast.IndexExpr); ok {
		fun = generic.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		if x := receiver(fun); x == "strings" || x == "fmt" {
			return x + "." + fun.Sel.Name
		}
		return fun.Sel.Name
	}
	return ""
}

// given reports whether a call has an argument at that place, and not the rest of a list that is handed on.
func given(call *ast.CallExpr, at int) bool {
	return at < len(call.Args) && !(call.Ellipsis != token.NoPos && at == len(call.Args)-1)
}

func isName(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// place is where a list has that name, -1 if nowhere.
func place(list *ast.FieldList, name string) int { return slices.Index(fieldNames(list), name) }

// fieldNames are the names of a struct's fields or a function's parameters, empty for one without.
func fieldNames(list *ast.FieldList) (names []string) {
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for _, n := range field.Names {
			names = append(names, n.Name)
		}
		if len(field.Names) == 0 {
			names = append(names, "")
		}
	}
	return names
}

// fits reports whether a function can be called with that many arguments.
func fits(f *ast.FuncType, args int) bool {
	n := len(fieldNames(f.Params))
	if n > 0 {
		if _, variadic := f.Params.List[len(f.Params.List)-1].Type.(*ast.Ellipsis); variadic {
			return args >= n-1
		}
	}
	return args == n
}

func onlyNumbers(f *ast.FuncType) bool {
	return len(f.Params.List) > 0 && !slices.ContainsFunc(f.Params.List, func(field *ast.Field) bool {
		return !isName(field.Type, "int") && !isName(field.Type, "int64")
	})
}

// structsOf are the structs that a package declares.
func structsOf(files tree) map[string]*ast.FieldList {
	structs := map[string]*ast.FieldList{}
	for _, s := range files {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if structure, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = structure.Fields
				}
			}
			return true
		})
	}
	return structs
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

func elementType(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ArrayType:
		return e.Elt
	case *ast.MapType:
		return e.Value
	}
	return nil
}
