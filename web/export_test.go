package web

// Routes are all pages and acts as the mux knows them, for the walk that must leave none out.
func Routes() (all []string) {
	for _, r := range routes {
		all = append(all, r.method+" "+r.path)
	}
	return all
}
