// Command httpd serves its own three requests over HTTP, and prints the status of each.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

func serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/no") {
		w.WriteHeader(http.StatusNotFound)
	}
}

func main() {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	for _, r := range []struct{ method, path string }{{"GET", "/users/7"}, {"POST", "/users"}, {"GET", "/nowhere?q=1"}} {
		request, err := http.NewRequest(r.method, s.URL+r.path, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		response.Body.Close()
		fmt.Println(r.method, r.path, response.StatusCode)
	}
}
