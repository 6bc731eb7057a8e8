package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"os"
	"time"
)

//go:noinline
func token(n int) error {
	b := make([]byte, n)
	_, err := rand.Read(b)
	note("rand.Read", n)
	return err
}

//go:noinline
func fromReader(n int) error {
	_, err := io.ReadFull(rand.Reader, make([]byte, n))
	note("rand.Reader", n)
	return err
}

// random draws random bytes by the function and from the reader.
func random() error {
	for _, n := range []int{16, 16, 32} {
		if err := token(n); err != nil {
			return err
		}
	}
	for range 2 {
		if err := fromReader(24); err != nil {
			return err
		}
	}
	return nil
}

// handshakes has a connection of each version of TLS, with itself; both ends log their
// keys, if there is a log.
func handshakes() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MaxVersion: version}
		client := &tls.Config{ServerName: "localhost", RootCAs: roots}
		if logFile != nil {
			server.KeyLogWriter, client.KeyLogWriter = logFile, logFile
		}
		if err := talk(server, client); err != nil {
			return err
		}
	}
	return nil
}

// talk says a word from the server to the client.
func talk(server, client *tls.Config) error {
	there, here := net.Pipe()
	failed := make(chan error)
	go func() {
		conn := tls.Server(there, server)
		_, err := conn.Write([]byte("hello"))
		conn.Close()
		failed <- err
	}()
	conn := tls.Client(here, client)
	_, err := io.Copy(os.Stdout, conn)
	conn.Close()
	if other := <-failed; err == nil {
		err = other
	}
	return err
}
