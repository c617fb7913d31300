// Package fence wraps text that somebody else wrote before a model sees it.
package fence

// Words is somebody else's text inside a tool result: a merchant's name, a memo, a customer's note.
type Words string
