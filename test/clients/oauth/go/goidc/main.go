// Gets a token with golang.org/x/oauth2, and verifies it with github.com/coreos/go-oidc.
package main

import (
	"context"

	"example.com/shop/task"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	todo := task.Read()
	ctx := oidc.ClientContext(context.Background(), todo.Client())
	provider, err := oidc.NewProvider(ctx, todo.Issuer)
	task.Must(err)
	config := clientcredentials.Config{
		ClientID: todo.ClientID, ClientSecret: todo.ClientSecret, TokenURL: provider.Endpoint().TokenURL,
	}
	token, err := config.Token(ctx)
	task.Must(err)
	// An access token for Roster itself has the issuer as its audience.
	verifier := provider.VerifierContext(ctx, &oidc.Config{ClientID: todo.Issuer})
	task.Print(token.AccessToken, func(token string) (string, error) {
		verified, err := verifier.Verify(ctx, token)
		if err != nil {
			return "", err
		}
		return verified.Subject, nil
	})
}
