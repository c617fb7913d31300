package verify

import (
	"strings"
	"testing"
)

// TestAClauseIsRepeated: what must not be told is found with other glyphs, in other lines and with words left out at its ends, and a few
// words that any text has are none of it.
func TestAClauseIsRepeated(t *testing.T) {
	const clause = "Opened software is taken back in the customer’s own region within thirty days – unless the seal is broken."
	for name, row := range map[string]struct{ clause, text, want string }{
		"with other glyphs, in other lines":  {clause, "Our terms say:\nopened software is taken back in the customer's own\nregion.", "opened software is taken back in the customers"},
		"without its first words":            {clause, "It is TAKEN BACK in the customer's own region, within thirty days!", "is taken back in the customers own region"},
		"over the dash":                      {clause, "within thirty days, unless the seal is broken", "within thirty days unless the seal is broken"},
		"with a long dash for the dash":      {clause, "within thirty days—unless the seal is broken", "within thirty days unless the seal is broken"},
		"with a hyphen at the end of a line": {"Goods that are un-damaged may be sent back within 30 days.", "that are un-\ndamaged may be sent back within", "that are undamaged may be sent back within"},
		"seven of its words":                 {clause, "taken back in the customer's own region, we say", ""},
		"a word in the middle less":          {clause, "Opened software is taken in the customer's own region. Thirty days.", ""},
		"a short one, whole":                 {"The refund is paid in full.", "We said so: the refund is paid in full.", "the refund is paid in full"},
		"a short one, but for a word":        {"The refund is paid in full.", "The refund is paid.", ""},
		"short words alone":                  {"It is up to us to do so or not to do so at all.", "it is up to us to do so, I say", ""},
		"in a script without spaces":         {"拆封的软件在客户所在地区三十天内可以退货，封条破损的除外。", "我们说：拆封的软件在客户所在地区三十天内可以退货。", "拆 封 的 软 件 在 客 户 所 在 地 区 三 十 天 内 可 以 退 货"},
		"an empty text":                      {clause, "", ""},
		"an empty clause":                    {"", "Whatever.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Repeats(row.clause)(row.text); got != row.want {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("a text that is made to keep us busy", func(t *testing.T) {
		if got := Repeats(strings.Repeat("a a a a a a a a b ", 500))(strings.Repeat("a a a a a a a a c ", 500)); got != "" {
			t.Errorf("got %q", got)
		}
	})
}
