package main

import "countersign/desk/merchant/library"

// extractTextCommand reads one document for another process of this program. A file that crashes what reads it, or fills its
// memory, takes this process down and nothing else.
type extractTextCommand struct {
	Name  string `arg:"" help:"What the file is called."`
	Cache string `help:"Folder of compiled code."`
}

// Run reads the file from standard input and writes one answer, as JSON.
func (c extractTextCommand) Run(s *session) error {
	return library.ExtractText(c.Name, c.Cache, s.in, s.out)
}
