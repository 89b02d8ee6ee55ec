// Reads a line for each request: its verb, its URL, how many braces are its body, and its headers by name and value,
// with tabs between them. Prints a line for each answer: its version, its status, and its body in base64; or
// "broken" and the reason. The argument is the file of the certificate to trust. Speaks HTTP/2 in any case.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	transport.Protocols.SetHTTP2(true)
	if len(os.Args) > 1 {
		certificate, err := os.ReadFile(os.Args[1])
		check(err)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(certificate)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	client := &http.Client{Transport: transport}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		version, status, body, err := ask(client, strings.Split(lines.Text(), "\t"))
		if err != nil {
			fmt.Printf("broken\t%v\n", err)
		} else {
			fmt.Printf("%s\t%d\t%s\n", version, status, base64.StdEncoding.EncodeToString(body))
		}
	}
}

func ask(client *http.Client, parts []string) (string, int, []byte, error) {
	length, err := strconv.Atoi(parts[2])
	check(err)
	request, err := http.NewRequest(parts[0], parts[1], strings.NewReader(strings.Repeat("{", length)))
	check(err)
	for at := 3; at+1 < len(parts); at += 2 {
		request.Header.Set(parts[at], parts[at+1])
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", 0, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.Proto, answer.StatusCode, body, err
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
