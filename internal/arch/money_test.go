package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Currencies have no, two, three or four decimal digits, so an amount that is multiplied or divided by a power of ten is
// wrong for some of them. Money knows, in money.go; nothing else may try, and nothing makes a float of an amount.

var (
	moneyWords  = strings.Fields("amount amounts minor money balance price cap caps refunded total kobo naira cents")
	powersOfTen = strings.Fields("10 100 1000 10000 10.0 100.0 1000.0 1e1 1e2 1e3 1e4")
	scaling     = []token.Token{token.MUL, token.QUO, token.REM, token.MUL_ASSIGN, token.QUO_ASSIGN, token.REM_ASSIGN}
)

func scaled(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		if s.path == "money.go" {
			continue
		}
		checked++
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if scales(n.Op, n.X, n.Y) || scales(n.Op, n.Y, n.X) {
					broken = append(broken, s.at(n)+": only money.go may scale an amount")
				}
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && scales(n.Tok, n.Lhs[0], n.Rhs[0]) {
					broken = append(broken, s.at(n)+": only money.go may scale an amount")
				}
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && strings.HasPrefix(name.Name, "float") && len(n.Args) == 1 && isMoney(n.Args[0]) {
					broken = append(broken, s.at(n)+": an amount is never a "+name.Name)
				}
			}
			return true
		})
	}
	return checked, broken
}

func scales(op token.Token, amount, factor ast.Expr) bool {
	power, ok := factor.(*ast.BasicLit)
	return ok && slices.Contains(scaling, op) && slices.Contains(powersOfTen, strings.ReplaceAll(power.Value, "_", "")) && isMoney(amount)
}

// isMoney reports whether any name in the expression sounds like an amount.
func isMoney(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			for _, w := range word.FindAllString(name.Name, -1) {
				found = found || slices.Contains(moneyWords, strings.ToLower(w))
			}
		}
		return !found
	})
	return found
}

func TestMoney(t *testing.T) {
	t.Run("only money.go knows how many decimal digits an amount has", func(t *testing.T) { holds(t, scaled) })

	for _, expr := range []string{"t.AmountMinor / 100", "amount * 100", "100 * amount", "a.Minor % 100", "int64(m.Minor) / 1_000",
		"total/100 + 1", "float64(m.Minor)", "float64(t.AmountMinor) / 100.0"} {
		t.Run("seen: "+expr, func(t *testing.T) {
			refuses(t, scaled, "amount", "web/x.go", "package web; func f() { _ = "+expr+" }")
		})
	}
	t.Run("seen: amount /= 100", func(t *testing.T) {
		refuses(t, scaled, "only money.go", "web/x.go", "package web; func f(amount int) { amount /= 100 }")
	})
	for _, expr := range []string{"done * 100 / all", "t.AmountMinor / 2", "amount - 100", "float64(tokens)"} {
		t.Run("allowed: "+expr, func(t *testing.T) {
			allows(t, scaled, "web/x.go", "package web; func f() { _ = "+expr+" }")
		})
	}
}
