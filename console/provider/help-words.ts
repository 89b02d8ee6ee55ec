import type { IdpIDPCheckKind } from '#gen/console/api'
import { texts } from '../texts/texts.ts'

const t = texts(
  {
    discovery:
      'Look at the issuer: its description has to be at /.well-known/openid-configuration, and to name it letter by letter. For a private address, the operator sets IDP_ALLOW_PRIVATE.',
    clock: 'One of the two clocks is wrong: set it, or tell the operator.',
    endpoints: 'Look at the addresses of the record. The provider has to offer the code flow.',
    keys: 'Look at the address of the keys. The provider has to publish one that is public.',
    client: 'Enter the client ID and the secret once more, as the provider shows them now.',
    redirectUri: 'Register the redirect URI at the provider, letter by letter, as “Set up” shows it.',
    claims: 'Ask for the scope under “Settings”, or name the claims there. Otherwise a page asks new people.',
  },
  {
    discovery:
      'Sehen Sie nach dem Issuer: Seine Beschreibung muss unter /.well-known/openid-configuration liegen und ihn Zeichen für Zeichen nennen. Für eine private Adresse setzt der Betreiber IDP_ALLOW_PRIVATE.',
    clock: 'Eine der beiden Uhren geht falsch: Stellen Sie sie, oder sagen Sie es dem Betreiber.',
    endpoints: 'Sehen Sie nach den Adressen des Eintrags. Der Anbieter muss den Code-Flow anbieten.',
    keys: 'Sehen Sie nach der Adresse der Schlüssel. Der Anbieter muss einen öffentlichen veröffentlichen.',
    client: 'Geben Sie Client-ID und Geheimnis noch einmal ein, wie der Anbieter sie jetzt zeigt.',
    redirectUri: 'Tragen Sie die Redirect-URI beim Anbieter Zeichen für Zeichen ein, wie „Einrichten“ sie zeigt.',
    claims:
      'Verlangen Sie den Scope unter „Einstellungen“, oder nennen Sie dort die Claims. Sonst fragt eine Seite neue Personen.',
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
