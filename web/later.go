package web

import "countersign"

func later(*visit) error { return countersign.Errorf(countersign.NotFound, "not yet") }

var importForm, postUpload, importPage, importResults, postImport, postImportCancel = later, later, later, later, later, later
