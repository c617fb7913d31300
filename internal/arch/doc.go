// Package arch holds the promises of this source tree as tests: who may import whom, what is pure, what can never reach the
// model, what no SQL does and where every statement comes from, what alone may post, what masks whatever leaves, which words
// a package must not know, and that the documents describe what is there.
//
// One file per promise. A promise is a function from source files to what breaks it, so each is also shown a small sample
// that breaks it: a check that cannot turn red proves nothing. For the same reason each fails when it found nothing to
// check. The files themselves are read, and nothing is asked of the go command: test results are cached by the files that a
// test opened, and a check that opens none would go on passing after the tree had changed.
package arch
