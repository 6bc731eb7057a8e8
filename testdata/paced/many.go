package main

import (
	"flag"
	"go/importer"
	"html/template"
	"net/http"
	"net/rpc"
)

// serve is never asked for. It makes the program one of many functions, like a server.
var serve = flag.String("serve", "", "serve HTTP at an address")

func serving() {
	if *serve == "" {
		return
	}
	page := template.Must(template.New("page").Parse("{{.}}"))
	rpc.HandleHTTP()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p, _ := importer.Default().Import(r.URL.Path)
		page.Execute(w, p)
	})
	go http.ListenAndServe(*serve, nil)
}
