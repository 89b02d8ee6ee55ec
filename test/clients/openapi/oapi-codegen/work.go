// Does the work of test/clients/work.ts by a client that oapi-codegen made.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"example.com/shop/client"
)

var work struct {
	URL         string `json:"url"`
	Certificate string `json:"certificate"`
	Calls       map[string]struct {
		Token        string         `json:"token"`
		Organization string         `json:"organization"`
		Request      map[string]any `json:"request"`
	} `json:"calls"`
}

func main() {
	check(json.NewDecoder(os.Stdin).Decode(&work))
	roster, err := client.NewClientWithResponses(work.URL, client.WithHTTPClient(httpClient()))
	check(err)
	background := context.Background()
	answers := map[string]any{}

	gender := client.Gender(text("UpdateMyProfile", "gender"))
	profile, err := roster.UpdateMyProfileWithResponse(background,
		&client.UpdateMyProfileParams{XServiceOrgid: organization("UpdateMyProfile")},
		client.UpdateMyProfileRequest{
			FirstName:   text("UpdateMyProfile", "firstName"),
			LastName:    text("UpdateMyProfile", "lastName"),
			DisplayName: text("UpdateMyProfile", "displayName"),
			Gender:      &gender,
		}, by("UpdateMyProfile"))
	check(err)
	answers["UpdateMyProfile"] = answer(profile.JSON200, profile.Body)

	style := client.IDPStylingType(text("UpdateIDP", "stylingType"))
	register := work.Calls["UpdateIDP"].Request["autoRegister"].(bool)
	idp, err := roster.UpdateIDPWithResponse(background, text("UpdateIDP", "idpId"),
		&client.UpdateIDPParams{XServiceOrgid: organization("UpdateIDP")},
		client.UpdateIDPBody{Name: text("UpdateIDP", "name"), StylingType: &style, AutoRegister: &register},
		by("UpdateIDP"))
	check(err)
	answers["UpdateIDP"] = answer(idp.JSON200, idp.Body)

	tokens := client.AccessTokenType(text("AddMachineUser", "accessTokenType"))
	machine, err := roster.AddMachineUserWithResponse(background,
		&client.AddMachineUserParams{XServiceOrgid: organization("AddMachineUser")},
		client.AddMachineUserRequest{
			UserName:        text("AddMachineUser", "userName"),
			Name:            text("AddMachineUser", "name"),
			AccessTokenType: &tokens,
		}, by("AddMachineUser"))
	check(err)
	answers["AddMachineUser"] = answer(machine.JSON200, machine.Body)

	email, err := roster.SetEmailWithResponse(background, text("SetEmail", "userId"),
		&client.SetEmailParams{XServiceOrgid: organization("SetEmail")},
		client.SetEmailBody{
			Email:      text("SetEmail", "email"),
			ReturnCode: &client.ReturnEmailVerificationCode{},
		}, by("SetEmail"))
	check(err)
	answers["SetEmail"] = answer(email.JSON200, email.Body)

	roleKeys := []string{}
	for _, key := range work.Calls["AddUserGrant"].Request["roleKeys"].([]any) {
		roleKeys = append(roleKeys, key.(string))
	}
	grant, err := roster.AddUserGrantWithResponse(background, text("AddUserGrant", "userId"),
		&client.AddUserGrantParams{XServiceOrgid: organization("AddUserGrant")},
		client.AddUserGrantBody{ProjectId: text("AddUserGrant", "projectId"), RoleKeys: &roleKeys},
		by("AddUserGrant"))
	check(err)
	answers["AddUserGrant"] = answer(grant.JSON200, grant.Body)

	name, method, total := text("AddMachineUser", "userName"), client.TEXTQUERYMETHODEQUALS, true
	named := client.UserNameQuery{UserName: &name, Method: &method}
	search, err := roster.SearchUsersWithResponse(background,
		&client.SearchUsersParams{XServiceOrgid: organization("SearchUsers")},
		client.SearchUsersRequest{Queries: &[]client.SearchQuery{{UserNameQuery: &named}}, WithTotal: &total},
		by("SearchUsers"))
	check(err)
	answers["SearchUsers"] = answer(search.JSON200, search.Body)

	refused, err := roster.SetEmailWithResponse(background, text("SetEmail", "userId"),
		&client.SetEmailParams{XServiceOrgid: organization("SetEmail")},
		client.SetEmailBody{Email: "a..b@example.com"}, by("SetEmail"))
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"answers": answers, "error": readError(*refused.JSON400)}))
}

func readError(status client.Status) map[string]any {
	read := map[string]any{"code": status.Code, "message": status.Message}
	for _, detail := range status.Details {
		if detail.Reason != nil {
			read["reason"] = *detail.Reason
		}
		if detail.FieldViolations != nil {
			read["field"] = *(*detail.FieldViolations)[0].Field
		}
	}
	return read
}

func answer[T any](answer *T, body []byte) *T {
	if answer == nil {
		panic(fmt.Sprintf("refused: %s", body))
	}
	return answer
}

func by(operation string) client.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+work.Calls[operation].Token)
		return nil
	}
}

func organization(operation string) *string {
	id := work.Calls[operation].Organization
	return &id
}

func text(operation, field string) string {
	return work.Calls[operation].Request[field].(string)
}

func httpClient() *http.Client {
	if work.Certificate == "" {
		return http.DefaultClient
	}
	pem, err := os.ReadFile(work.Certificate)
	check(err)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(pem)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: trusted},
		ForceAttemptHTTP2: true,
	}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
