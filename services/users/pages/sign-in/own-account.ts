import { OIDCApplicationConfig } from '#gen/roster/grants/v1/application_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { noteUse } from '../../sessions/browsers/browser-sessions.ts'
import type { Context } from '../../context.ts'
import { redirect } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import type { OpenedRequest } from './opened-request.ts'
import { type Parameters, wordsOf } from '../../openid/request/parameters.ts'
import type { RequestedApplication, Asked } from '../../openid/request/read-parameters.ts'
import { closing } from '../../openid/request/request-row.ts'

/** The way to a page of the own account; `outcome`: what it says of the form before. */
export function toAccount(uiLocales: string, section = '', outcome = ''): PageAnswer {
  const said = { ...(uiLocales !== '' && { ui_locales: uiLocales }), ...(outcome !== '' && { outcome }) }
  const query = new URLSearchParams(said).toString()
  return redirect(`/ui/account${section && `/${section}`}${query && `?${query}`}`)
}

/** What a request for the own account asks for: that a person is signed in, where it says so, of late. */
export function readOwnRequest({
  prompt,
  maxAge,
}: Pick<Parameters, 'prompt' | 'maxAge'>): RequestedApplication & { asked: Asked } {
  const seconds = maxAge === '' ? undefined : Number(maxAge)
  const asked = { maxAge: seconds, hintedUser: undefined, organizationScope: undefined, needsClick: false }
  const nothing = { scopes: [], claims: [], claimScopes: [], acr: undefined, actsInRoster: false }
  return { ...roster, asked: { ...asked, ...nothing, prompts: wordsOf(prompt) } }
}

const { organizationId: _none, ...settings } = OIDCApplicationConfig.decode(new Uint8Array())

/** Roster itself, where `judge` asks for an application. No copy has its ids, so it cannot be closed. */
const roster: RequestedApplication = {
  application: {
    id: '',
    clientId: '',
    organizationId: '',
    projectId: '',
    name: '',
    keys: [],
    isOpen: true,
    revision: 0,
    oidc: { ...settings, clockSkew: 0, accessTokenLifetime: 0 },
  },
  project: {
    id: '',
    organizationId: '',
    roleCheck: false,
    hasProjectCheck: false,
    roleAssertion: false,
    isOpen: true,
    revision: 0,
  },
}

/** Answers a request for the own account: nothing is missing, so its page shows this one from now on. */
export async function enterAccount(
  { sql }: Pick<Context, 'sql'>,
  { browser, row }: Pick<OpenedRequest, 'browser' | 'row'>,
  { signedInUser: { application, sessionId } }: Candidate,
): Promise<PageAnswer> {
  const writes = [noteUse(browser, application.id, sessionId), closing(row.id).write]
  await orUnavailable(
    sql.begin(async (transaction) => {
      for (const write of writes) await write(transaction)
    }),
  )
  return toAccount(row.parameters.uiLocales, row.parameters.state)
}
