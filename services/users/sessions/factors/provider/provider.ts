import { orUnavailable } from '#lib/database/database'
import type { Context } from '../../../context.ts'
import { type Link, linkKey, linkKind } from '../../../directory/events/links.ts'
import type { User } from '../../../directory/events/user.ts'
import { findUserById, type LoginUser } from '../../../directory/login-names/login-user.ts'
import type { ProvedFactor } from '../factor.ts'
import { keepingProviderSession } from './provider-sessions.ts'

/** Whom an identity provider has proved a moment ago. */
export interface ProvedByProvider extends Pick<Link, 'idpId' | 'issuer' | 'subject'> {
  /** When the person signed in there, RFC 3339. Missing: the provider does not say. */
  provedAt?: string | undefined
  /** The words by which it counts as two factors. Missing: none. */
  counted?: string[] | undefined
  /** The person's session there. Missing or empty: the provider does not say. */
  sid?: string | undefined
  /** What the provider gave, as it is stored. Missing: nothing is kept. */
  sealedTokens?: string | undefined
}

/** The rows of a provider's table that the claims of a person match. */
export interface MatchedRoles {
  rowIds: string[]
  /** The one that has the provider. */
  organizationId: string
}

/** The user who is linked to whom a provider proves: by issuer and subject, and by nothing else. */
export async function findLinked(
  context: Pick<Context, 'sql' | 'personal'>,
  proved: ProvedByProvider,
): Promise<LoginUser | undefined> {
  const { scope, key } = linkKey(proved)
  const [row] = await orUnavailable(context.sql<{ userId: string }[]>`
    select aggregate_id as "userId" from unique_keys
    where kind = ${linkKind} and scope = ${scope} and key = ${context.personal.storedKey(linkKind, key)}
  `)
  const user = row && (await findUserById(context, row.userId))
  return user && isLinked(user.state, proved) ? user : undefined
}

/** As long as the link is there. Whether the provider serves is seen where it is recorded. */
export function provedProvider(user: LoginUser, proved: ProvedByProvider): ProvedFactor {
  const { idpId, provedAt, counted = [] } = proved
  return {
    kind: 'provider',
    check: { idpId, ...(provedAt && { provedAt }), ...(counted.length > 0 && { counted }) },
    user,
    holds: (state) => isLinked(state, proved),
    writes: [],
    writesOf: (session) => [keepingProviderSession(session, { ...proved, tokens: proved.sealedTokens })],
    guards: [],
    uses: [],
  }
}

function isLinked(user: User | undefined, { idpId, issuer, subject }: ProvedByProvider): boolean {
  const link = user?.human?.links?.find((one) => one.idpId === idpId)
  return link?.issuer === issuer && link.subject === subject
}
