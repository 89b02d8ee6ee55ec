// Signs a person in with github.com/zitadel/oidc.
package main

import (
	"context"
	"crypto/rand"

	"example.com/shop/task"
	"github.com/zitadel/oidc/v3/pkg/client/rp"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"golang.org/x/oauth2"
)

func main() {
	todo, ctx := task.Read(), context.Background()
	state, pkce := rand.Text(), oauth2.GenerateVerifier()
	party, err := rp.NewRelyingPartyOIDC(ctx, todo.Issuer, todo.ClientID, todo.ClientSecret, todo.RedirectURI,
		[]string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeOfflineAccess}, rp.WithHTTPClient(todo.Client()),
		// By itself it sends the secret in the form when it refreshes.
		rp.WithAuthStyle(oauth2.AuthStyleInHeader))
	task.Must(err)
	answer := todo.Visit(rp.AuthURL(state, party, rp.WithCodeChallenge(oidc.NewSHACodeChallenge(pkce))), state)

	tokens, err := rp.CodeExchange[*oidc.IDTokenClaims](ctx, answer.Get("code"), party, rp.WithCodeVerifier(pkce))
	task.Must(err)
	_, err = rp.VerifyIDToken[*oidc.IDTokenClaims](ctx, task.Forge(tokens.IDToken), party.IDTokenVerifier())
	refused := err != nil

	refreshed, err := rp.RefreshTokens[*oidc.IDTokenClaims](ctx, party, tokens.RefreshToken, "", "")
	task.Must(err)
	subject := tokens.IDTokenClaims.Subject
	info, err := rp.Userinfo[*oidc.UserInfo](ctx, refreshed.AccessToken, refreshed.TokenType, subject, party)
	task.Must(err)
	task.Person{
		Subject: subject, Refreshed: refreshed.IDTokenClaims.Subject, Name: info.Name, Refused: refused,
	}.Print()
}
