// Gets a token and verifies it with github.com/zitadel/oidc.
package main

import (
	"context"

	"example.com/shop/task"
	"github.com/zitadel/oidc/v3/pkg/client"
	"github.com/zitadel/oidc/v3/pkg/client/rp"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

func main() {
	todo, ctx := task.Read(), context.Background()
	http := todo.Client()
	discovery, err := client.Discover(ctx, todo.Issuer, http)
	task.Must(err)
	party, err := rp.NewRelyingPartyOIDC(ctx, todo.Issuer, todo.ClientID, todo.ClientSecret, "", nil,
		rp.WithHTTPClient(http))
	task.Must(err)
	token, err := rp.ClientCredentials(ctx, party, nil)
	task.Must(err)
	verifier := op.NewAccessTokenVerifier(todo.Issuer, rp.NewRemoteKeySet(http, discovery.JwksURI),
		op.WithSupportedAccessTokenSigningAlgorithms(discovery.IDTokenSigningAlgValuesSupported...))
	task.Print(token.AccessToken, func(token string) (string, error) {
		claims, err := op.VerifyAccessToken[*oidc.AccessTokenClaims](ctx, token, verifier)
		if err != nil {
			return "", err
		}
		return claims.Subject, nil
	})
}
