// Command gallery shows every state of every page of the dashboard, drawn from invented data, without a database, a model or
// anybody signed in:
//
//	go run ./internal/gallery --addr 127.0.0.1:8090
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"countersign/desk/bank"
	"countersign/desk/merchant"
	"countersign/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen on")
	flag.Parse()
	if err := serve(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func serve(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	samples := web.Gallery(bank.New(), merchant.New(merchant.Config{}))
	fmt.Printf("%d samples at http://%s/\n", len(samples), l.Addr())
	server := http.Server{Handler: web.GallerySite(samples), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}
