import type { ExplainSignInRequest, ExplainSignInResponse, LeftOutScope } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError, type Violation } from '#lib/errors'
import { showChange } from '#lib/events/show-change'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from '#lib/search/cursor'
import type { Context } from '../../context.ts'
import { existing } from '../../directory/states/user-state.ts'
import { humanOf, type User } from '../../directory/events/user.ts'
import type { KnownApplication } from '../../openid/applications/find-application.ts'
import { withoutForeignTokens } from '../../openid/judge/provider-tokens.ts'
import { wordsOf } from '../../openid/request/parameters.ts'
import { leftOutScopes } from '../../openid/request/read-scopes.ts'
import { scopeOf, stateOfRequest } from './asked-request.ts'
import { type Assessment, findAsked, assess } from './assess.ts'
import { findNamedApplication } from './find-named-application.ts'
import { findNamed, type NamedPerson } from './find-person.ts'
import { groundsOf } from './grounds.ts'
import { nextSignIn } from './next-sign-in.ts'
import { findPastSignIns } from './past-sign-ins.ts'

const [defaultLimit, mostSignIns] = [10, 20]

export const explainSignIn = {
  check(_context: Context, { userId, loginName, requestId, authorizationId }: ExplainSignInRequest): Violation[] {
    const refuse = (field: string, description: string): Violation[] => [{ field, description }]
    return [
      ...(userId === '' && loginName === '' ? refuse('userId', 'must have at least 1 character') : []),
      ...(userId !== '' && loginName !== '' ? refuse('loginName', 'must not stand beside userId') : []),
      ...(requestId !== '' && authorizationId !== ''
        ? refuse('requestId', 'must not stand beside authorizationId')
        : []),
    ]
  },
  handle,
}

async function handle(context: Context, asking: ExplainSignInRequest, call: Call): Promise<ExplainSignInResponse> {
  const found = await explainFound(context, asking, await findBoth(context, asking, call), call)
  // Of an application that the caller has no other way to know of, it does not learn by its id that it is there.
  return found ?? (await explainFound(context, asking, await findUnknown(context, asking, call), call))!
}

// Undefined where the caller may not know of the application.
async function explainFound(
  context: Context,
  asking: ExplainSignInRequest,
  { known, fault, userId }: Both,
  call: Call,
): Promise<ExplainSignInResponse | undefined> {
  const { sql, keys, store, personal } = context
  const request = { ...asking, userId }
  const { application, limit, cursor } = request
  const user = await store.load<User>('user', userId)
  humanOf(existing(user?.state))
  const asked = { method: 'ExplainSignIn', request: { ...request, withTotal: false }, call }
  const [before] = readCursor(keys, asked) ?? []
  const { $case, value } = application!
  const applicationId = known?.application.id ?? ($case === 'applicationId' ? value : '')
  const past = await findPastSignIns(
    sql,
    { userId, applicationId },
    before,
    Math.min(limit || defaultLimit, mostSignIns),
    call,
  )
  const assessment = await assess(context, request, known, user!, call)
  const isForeign = $case === 'applicationId' && !assessment.seesProject
  if (known && isForeign && cursor === '' && past.events.length === 0) return undefined
  return {
    ...groundsOf(assessment, request),
    events: (await orUnavailable(personal.decryptEvents(sql, past.events))).map((row) => showChange('users', row)),
    nextCursor: past.next === undefined ? '' : writeCursor(keys, asked, [past.next]),
    userId,
    nextSignIn: await nextSignIn(context, assessment, { request, fault }, call),
    request: stateOfRequest(assessment.row),
    trustedBrowserStandsIn: (assessment.facts?.authorization ?? assessment.facts?.session)?.standsIn !== undefined,
    leftOutScopes: leftOutOf(request, assessment, known),
  }
}

interface Both extends NamedPerson {
  known: KnownApplication | undefined
}

// Whom a name means depends on the application, and which application a name means on the user.
async function findBoth(context: Context, request: ExplainSignInRequest, call: Call): Promise<Both> {
  const findUser = (known: KnownApplication | undefined) => findPerson(context, request, known, call)
  const { $case, value } = request.application!
  if ($case !== 'applicationName') {
    const known = await findAsked(context, { [$case]: value } as { clientId: string }, call)
    return { known, ...(await findUser(known)) }
  }
  const first = await orNotFound(findUser(undefined))
  const applicationId = await findNamedApplication(context, { name: value, userId: first?.userId }, call)
  const known = await findAsked(context, { applicationId }, call)
  return { known, ...(await findUser(known)) }
}

async function findUnknown(context: Context, request: ExplainSignInRequest, call: Call): Promise<Both> {
  return { known: undefined, ...(await findPerson(context, request, undefined, call)) }
}

async function findPerson(
  context: Context,
  request: ExplainSignInRequest,
  known: KnownApplication | undefined,
  call: Call,
): Promise<NamedPerson> {
  const { userId } = request
  return userId === '' ? findNamed(context, request, known, call) : { userId, fault: undefined }
}

async function orNotFound(found: Promise<NamedPerson>): Promise<NamedPerson | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'USER_NOT_FOUND') return undefined
    throw error
  }
}

const whyLeftOut = {
  'no-refresh-token': 'The grant types of the application do not have the refresh token.',
  unknown: 'Roster has no such scope.',
  'foreign-provider':
    'The person has signed in by a provider of another organization than that of the project, which gives the application no tokens.',
}

// Of the session that the explanation is about.
function foreignTokens(text: string, facts: Assessment['facts'], { project }: KnownApplication): ForeignTokens[] {
  const asked = wordsOf(text)
  if (!facts?.session) return []
  const { session, policy } = facts
  const given = withoutForeignTokens(asked, session.factors, policy.providers, project.organizationId)
  return asked.filter((scope) => !given.includes(scope)).map((scope) => ({ scope, why: 'foreign-provider' }))
}

interface ForeignTokens {
  scope: string
  why: 'foreign-provider'
}

function leftOutOf(
  { scopes, authorizationId }: ExplainSignInRequest,
  { row, facts }: Assessment,
  known: KnownApplication | undefined,
): LeftOutScope[] {
  if (!known?.application.oidc || authorizationId !== '') return []
  const text = row ? row.parameters.scope : scopeOf(scopes)
  const leftOut = leftOutScopes(text, known.application.oidc)
  return [...leftOut, ...foreignTokens(text, facts, known)].map(({ scope, why }) => ({
    scope,
    sentence: whyLeftOut[why],
  }))
}
