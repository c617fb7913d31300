package main

import (
	"fmt"
	"path/filepath"

	"countersign"
	"countersign/demo"
	"countersign/desk/merchant/connector"
)

// chargebackID is what the case of the n-th chargeback is called, every time.
func (d *show) chargebackID(n int) countersign.CaseID {
	return countersign.CaseID(fmt.Sprintf("%s%d", d.app.Desks[countersign.Merchant].Prefix, 2001+n))
}

// stock makes the invented shop and connects it as its owner would.
func (d *show) stock(s *session) error {
	path := filepath.Join(d.app.Data, "demo-shop.db")
	if err := demo.MakeShop(s, path, d.now); err != nil {
		return err
	}
	if _, known, err := d.app.Store.LatestMapping(s); err != nil || known {
		return err
	}
	mapping, err := connector.ParseMapping(demo.ShopMapping(path))
	if err != nil {
		return err
	}
	_, err = d.app.Setup.Save(s, mapping, operator(), operator())
	return err
}

// shelve imports the shop's policies, each confirmed as somebody would who has read it. What was imported before is left as it is.
func (d *show) shelve(s *session) error {
	all, err := demo.Policies()
	if err != nil {
		return err
	}
	for _, p := range all {
		report, err := d.app.Library.Import(s, operator(), p.File, p.Bytes, p.ValidFrom)
		if err != nil {
			return fmt.Errorf("import %s: %w", p.File, err)
		}
		if report.Confirmed {
			continue
		}
		if err := d.app.Library.Confirm(s, operator(), report.VersionID); err != nil {
			return fmt.Errorf("confirm %s: %w", p.File, err)
		}
	}
	return nil
}

// unlocked is how many chargebacks there are from the first moment on, so that whoever came to see the shop's desk finds it at work.
const unlocked = 4

// unlock opens the first chargebacks beside the bank's day. Their lines are printed with the others'.
func (d *show) unlock(s *session) error { return d.chargeAll(s, demo.Chargebacks()[:unlocked]) }

func (d *show) chargeAll(s *session, all []demo.Chargeback) error {
	for n, c := range all {
		if err := d.charge(s, d.chargebackID(n), c); err != nil {
			return fmt.Errorf("%s: %w", c.Title, err)
		}
	}
	return nil
}

// trade carries the shop's chargebacks to a person, all opened together and printed in order.
func (d *show) trade(s *session) error {
	d.print("\nAn invented shop with a database of its own and four policies. Its chargebacks name an order; a person decides every one.\n")
	d.shopHeader()
	if err := d.chargeAll(s, demo.Chargebacks()); err != nil {
		return err
	}
	for n, c := range demo.Chargebacks() {
		if err := d.settle(s, d.chargebackID(n), c); err != nil {
			return fmt.Errorf("%s: %w", c.Title, err)
		}
	}
	return nil
}

// charge opens a chargeback, unless an earlier start has.
func (d *show) charge(s *session, id countersign.CaseID, c demo.Chargeback) error {
	if _, err := d.app.Store.Case(s, id); countersign.KindOf(err) != countersign.NotFound {
		d.told[id] = true
		return err
	}
	d.next, d.told[id] = id, true
	_, err := d.intake.Open(s, d.app.Desks[countersign.Merchant].Desk, operator(), c.Request(d.now))
	return err
}

// settle waits for a chargeback's review, does what the invented person does, and prints its line.
func (d *show) settle(s *session, id countersign.CaseID, c demo.Chargeback) error {
	found, err := d.app.Wait(s, id)
	if err != nil {
		return err
	}
	if found, err = d.then(s, found, c.Then); err != nil {
		return err
	}
	d.shopCase(found, c.Script)
	return nil
}
