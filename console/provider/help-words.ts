import type { IdpIDPCheckKind } from '#gen/console/api'
import { texts } from '../texts/texts.ts'

const t = texts(
  {
    discovery:
      'Check the issuer: its discovery document must be at /.well-known/openid-configuration and name exactly this issuer. For a private address, the operator sets IDP_ALLOW_PRIVATE.',
    clock: 'Its clock or that of Roster is wrong. Set it, or tell the operator.',
    endpoints: 'Check the endpoints under “Settings”. The provider must offer the authorization code flow.',
    keys: 'Check the address of the keys. The provider must publish at least one public key there.',
    client: 'Enter the client ID and the secret again, as the provider shows them now.',
    redirectUri: 'Register the redirect URI at the provider, exactly as “Set up” shows it.',
    claims:
      'Add the scope under “Settings”, or name the claims there. Otherwise new people enter what is missing themselves.',
  },
  {
    discovery:
      'Prüfen Sie den Issuer: Sein Discovery-Dokument muss unter /.well-known/openid-configuration liegen und genau diesen Issuer nennen. Für eine private Adresse setzt der Betreiber IDP_ALLOW_PRIVATE.',
    clock: 'Seine Uhr oder die von Roster geht falsch. Stellen Sie sie, oder sagen Sie es dem Betreiber.',
    endpoints:
      'Prüfen Sie die Endpunkte unter „Einstellungen“. Der Anbieter muss den Authorization Code Flow anbieten.',
    keys: 'Prüfen Sie die Adresse der Schlüssel. Der Anbieter muss dort mindestens einen öffentlichen Schlüssel haben.',
    client: 'Geben Sie Client-ID und Geheimnis noch einmal ein, wie der Anbieter sie jetzt zeigt.',
    redirectUri: 'Tragen Sie die Redirect-URI beim Anbieter genau so ein, wie „Einrichten“ sie zeigt.',
    claims:
      'Tragen Sie den Scope unter „Einstellungen“ ein, oder nennen Sie dort die Claims. Sonst geben neue Personen selbst ein, was fehlt.',
  },
)

/** What helps where a check is not in order. */
export const helps: Partial<Record<IdpIDPCheckKind, string>> = {
  IDP_CHECK_KIND_DISCOVERY: t.discovery,
  IDP_CHECK_KIND_CLOCK: t.clock,
  IDP_CHECK_KIND_ENDPOINTS: t.endpoints,
  IDP_CHECK_KIND_KEYS: t.keys,
  IDP_CHECK_KIND_CLIENT: t.client,
  IDP_CHECK_KIND_REDIRECT_URI: t.redirectUri,
  IDP_CHECK_KIND_CLAIMS: t.claims,
}
