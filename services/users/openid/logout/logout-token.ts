import { v7 as uuid } from 'uuid'
import type { OidcCopy } from '../applications/application-copy.ts'
import type { Context } from '../../context.ts'
import type { Hint } from '../tokens/id-token.ts'
import { algorithmOf } from '../tokens/id-token-claims.ts'
import { issuerOf } from '../../directory/issuer.ts'

/** Seconds. */
const lifetime = 120
const event = 'http://schemas.openid.net/event/backchannel-logout'

/** Signs what tells an application of the end of a session (OpenID Connect Back-Channel Logout 1.0 section 2.4). */
export function makeLogoutToken(
  { config, idTokenKeys }: Pick<Context, 'config' | 'idTokenKeys'>,
  oidc: Pick<OidcCopy, 'idTokenAlgorithm' | 'clockSkew'>,
  told: Hint,
  now: Date,
): Promise<string> {
  const iat = Math.floor(now.getTime() / 1000) - oidc.clockSkew
  const claims = { iss: issuerOf(config), iat, exp: iat + lifetime, jti: uuid(), events: { [event]: {} }, ...told }
  return idTokenKeys.sign(algorithmOf(oidc), 'logout+jwt', claims)
}
