// Signs a person in with golang.org/x/oauth2 and github.com/coreos/go-oidc.
package main

import (
	"context"
	"crypto/rand"
	"errors"

	"example.com/shop/task"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	todo := task.Read()
	ctx := oidc.ClientContext(context.Background(), todo.Client())
	provider, err := oidc.NewProvider(ctx, todo.Issuer)
	task.Must(err)
	config := oauth2.Config{
		ClientID: todo.ClientID, ClientSecret: todo.ClientSecret, Endpoint: provider.Endpoint(),
		RedirectURL: todo.RedirectURI, Scopes: []string{oidc.ScopeOpenID, "profile", oidc.ScopeOfflineAccess},
	}
	state, nonce, pkce := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	answer := todo.Visit(config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(pkce)), state)

	tokens, err := config.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(pkce))
	task.Must(err)
	verifier := provider.VerifierContext(ctx, &oidc.Config{ClientID: todo.ClientID})
	verify := func(tokens *oauth2.Token) *oidc.IDToken {
		verified, err := verifier.Verify(ctx, tokens.Extra("id_token").(string))
		task.Must(err)
		return verified
	}
	first := verify(tokens)
	if first.Nonce != nonce {
		task.Must(errors.New("the ID token is of another request"))
	}
	_, err = verifier.Verify(ctx, task.Forge(tokens.Extra("id_token").(string)))
	refused := err != nil

	refreshed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: tokens.RefreshToken}).Token()
	task.Must(err)
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(refreshed))
	task.Must(err)
	var profile struct{ Name string }
	task.Must(info.Claims(&profile))
	task.Person{Subject: first.Subject, Refreshed: verify(refreshed).Subject, Name: profile.Name, Refused: refused}.Print()
}
