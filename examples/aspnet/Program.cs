// A web server whose users sign in with Roster: ASP.NET Core's own handler of OpenID Connect.
using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authentication.OpenIdConnect;
using Microsoft.Extensions.Options;
using Microsoft.IdentityModel.Protocols.OpenIdConnect;

var builder = WebApplication.CreateBuilder(args);
var settings = builder.Configuration;

builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie(options => options.Events.OnValidatePrincipal = Tokens.Refresh)
    .AddOpenIdConnect(options =>
    {
        options.Authority = settings["ISSUER"];
        options.ClientId = settings["CLIENT_ID"];
        options.ClientSecret = settings["CLIENT_SECRET"];
        options.ResponseType = OpenIdConnectResponseType.Code;
        // As it comes: form_post, whose cookies need https. On http://localhost the answer comes in the query.
        options.ResponseMode = OpenIdConnectResponseMode.Query;
        options.NonceCookie.SameSite = options.CorrelationCookie.SameSite = SameSiteMode.Lax;
        options.NonceCookie.SecurePolicy = options.CorrelationCookie.SecurePolicy = CookieSecurePolicy.SameAsRequest;
        options.RequireHttpsMetadata = !settings["ISSUER"]!.StartsWith("http://localhost");
        foreach (var scope in new[] { "email", "roles", "offline_access" }) options.Scope.Add(scope);
        // Keeps the tokens in the cookie, which is encrypted: for the refresh, and as a hint at the sign-out.
        options.SaveTokens = true;
        // Claims keep their names, and `roles` is what RequireRole looks at.
        options.MapInboundClaims = false;
        options.TokenValidationParameters.NameClaimType = "name";
        options.TokenValidationParameters.RoleClaimType = "roles";
    });
builder.Services.AddAuthorizationBuilder().AddPolicy("reader", policy => policy.RequireRole("reader"));

var app = builder.Build();
app.UseAuthentication();
app.UseAuthorization();

app.MapGet("/", (HttpContext context) => new
{
    name = context.User.Identity!.Name,
    roles = context.User.FindAll("roles").Select(claim => claim.Value),
}).RequireAuthorization();

app.MapGet("/books", () => new[] { "The Mythical Man-Month" }).RequireAuthorization("reader");

// Ends the session here, and sends the browser to Roster, which ends its own, and back.
app.MapPost("/sign-out", () => Results.SignOut(
    new AuthenticationProperties { RedirectUri = "/" },
    [CookieAuthenticationDefaults.AuthenticationScheme, OpenIdConnectDefaults.AuthenticationScheme]));

app.Run();

static class Tokens
{
    /// <summary>Refreshes an access token that has less than a minute left, at the next request of its person.</summary>
    public static async Task Refresh(CookieValidatePrincipalContext context)
    {
        var kept = context.Properties;
        var refreshToken = kept.GetTokenValue("refresh_token");
        if (refreshToken is null || kept.GetTokenValue("expires_at") is not { } until) return;
        if (DateTimeOffset.Parse(until, CultureInfo.InvariantCulture) > DateTimeOffset.UtcNow.AddMinutes(1)) return;

        var options = context.HttpContext.RequestServices.GetRequiredService<IOptionsMonitor<OpenIdConnectOptions>>()
            .Get(OpenIdConnectDefaults.AuthenticationScheme);
        var metadata = await options.ConfigurationManager!.GetConfigurationAsync(context.HttpContext.RequestAborted);
        using var form = new FormUrlEncodedContent(new Dictionary<string, string>
        {
            ["grant_type"] = "refresh_token",
            ["refresh_token"] = refreshToken,
            ["client_id"] = options.ClientId!,
            ["client_secret"] = options.ClientSecret!,
        });
        using var answer = await options.Backchannel.PostAsync(metadata.TokenEndpoint, form);
        // 400: the sign-in has ended. Anything else may pass, and the tokens are good for some seconds more.
        if (answer.StatusCode == System.Net.HttpStatusCode.BadRequest) context.RejectPrincipal();
        if (!answer.IsSuccessStatusCode) return;

        using var tokens = JsonDocument.Parse(await answer.Content.ReadAsStreamAsync());
        foreach (var name in new[] { "access_token", "refresh_token", "id_token" })
            if (tokens.RootElement.TryGetProperty(name, out var token)) kept.UpdateTokenValue(name, token.GetString()!);
        var lifetime = tokens.RootElement.GetProperty("expires_in").GetInt32();
        kept.UpdateTokenValue("expires_at", DateTimeOffset.UtcNow.AddSeconds(lifetime).ToString("o"));
        context.ShouldRenew = true;
    }
}
