package app

import (
	"path/filepath"

	"countersign/desk"
	"countersign/desk/merchant"
	"countersign/desk/merchant/library"
	"countersign/desk/merchant/setup"
)

// merchantDesk is the merchant's desk over whatever shop is connected, and the shop's policies.
func (a *App) merchantDesk() (desk.Desk, error) {
	extractor, err := library.Self(filepath.Join(a.Data, "cache"))
	if err != nil {
		return desk.Desk{}, err
	}
	a.Setup = setup.Setup{Store: a.Store, Key: a.Key}
	a.Library = &library.Library{Store: a.Store, Extractor: extractor}
	a.shop = &connected{setup: a.Setup}
	return merchant.New(merchant.Config{Order: a.shop.order, Policies: a.Library.Policies(), Shop: a.shop.name, Now: a.Store.Now, Version: a.Version}), nil
}
