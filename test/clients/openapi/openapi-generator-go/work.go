// Does the work of test/clients/work.ts by a client that openapi-generator made.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
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
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: work.URL}}
	configuration.HTTPClient = httpClient()
	roster := client.NewAPIClient(configuration)
	answers := map[string]any{}

	gender := client.Gender(text("UpdateMyProfile", "gender"))
	profile := client.NewUpdateMyProfileRequest(
		text("UpdateMyProfile", "firstName"), text("UpdateMyProfile", "lastName"), text("UpdateMyProfile", "displayName"))
	profile.Gender = &gender
	answers["UpdateMyProfile"] = answer(roster.UserServiceAPI.UpdateMyProfile(by("UpdateMyProfile")).
		XServiceOrgid(organization("UpdateMyProfile")).UpdateMyProfileRequest(*profile).Execute())

	idp := client.NewUpdateIDPBody(text("UpdateIDP", "name"))
	idp.SetStylingType(client.IDPStylingType(text("UpdateIDP", "stylingType")))
	idp.SetAutoRegister(work.Calls["UpdateIDP"].Request["autoRegister"].(bool))
	answers["UpdateIDP"] = answer(roster.IdentityProviderServiceAPI.UpdateIDP(by("UpdateIDP"), text("UpdateIDP", "idpId")).
		XServiceOrgid(organization("UpdateIDP")).UpdateIDPBody(*idp).Execute())

	machine := client.NewAddMachineUserRequest(text("AddMachineUser", "userName"), text("AddMachineUser", "name"))
	machine.SetAccessTokenType(client.AccessTokenType(text("AddMachineUser", "accessTokenType")))
	answers["AddMachineUser"] = answer(roster.UserServiceAPI.AddMachineUser(by("AddMachineUser")).
		XServiceOrgid(organization("AddMachineUser")).AddMachineUserRequest(*machine).Execute())

	email := client.NewSetEmailBody(text("SetEmail", "email"))
	email.SetReturnCode(map[string]any{})
	answers["SetEmail"] = answer(roster.UserServiceAPI.SetEmail(by("SetEmail"), text("SetEmail", "userId")).
		XServiceOrgid(organization("SetEmail")).SetEmailBody(*email).Execute())

	grant := client.NewAddUserGrantBody(text("AddUserGrant", "projectId"))
	for _, key := range work.Calls["AddUserGrant"].Request["roleKeys"].([]any) {
		grant.RoleKeys = append(grant.RoleKeys, key.(string))
	}
	answers["AddUserGrant"] = answer(roster.UserGrantServiceAPI.AddUserGrant(by("AddUserGrant"), text("AddUserGrant", "userId")).
		XServiceOrgid(organization("AddUserGrant")).AddUserGrantBody(*grant).Execute())

	named := client.NewUserNameQuery()
	named.SetUserName(text("AddMachineUser", "userName"))
	named.SetMethod(client.TEXT_QUERY_METHOD_EQUALS)
	search := client.NewSearchUsersRequest()
	search.SetQueries([]client.SearchQuery{{UserNameQuery: named}})
	search.SetWithTotal(true)
	answers["SearchUsers"] = answer(roster.UserServiceAPI.SearchUsers(by("SearchUsers")).
		XServiceOrgid(organization("SearchUsers")).SearchUsersRequest(*search).Execute())

	_, _, refused := roster.UserServiceAPI.SetEmail(by("SetEmail"), text("SetEmail", "userId")).
		XServiceOrgid(organization("SetEmail")).SetEmailBody(*client.NewSetEmailBody("a..b@example.com")).Execute()
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"answers": answers, "error": readError(refused)}))
}

func readError(refused error) map[string]any {
	var failure *client.GenericOpenAPIError
	if !errors.As(refused, &failure) {
		panic(refused)
	}
	status := failure.Model().(client.Status)
	read := map[string]any{"code": status.Code, "message": status.Message}
	for _, detail := range status.Details {
		if detail.Reason != nil {
			read["reason"] = *detail.Reason
		}
		for _, violation := range detail.FieldViolations {
			read["field"] = violation.GetField()
		}
	}
	return read
}

func answer[T any](answer T, _ *http.Response, err error) T {
	check(err)
	return answer
}

func by(operation string) context.Context {
	return context.WithValue(context.Background(), client.ContextAccessToken, work.Calls[operation].Token)
}

func organization(operation string) string {
	return work.Calls[operation].Organization
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
