import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type Candidate, chooseAlone, findCandidates } from '../../openid/authorization/candidates.ts'
import type { OpenedRequest } from './opened-request.ts'
import { readOwnRequest } from './own-account.ts'
import { isForOwnAccount } from '../../openid/request/parameters.ts'
import { readRequest } from '../../openid/request/read-request.ts'
import type { Mistake } from '../../openid/request/mistakes.ts'
import type { RequestedApplication, Asked, Unanswerable } from '../../openid/request/read-parameters.ts'
import { requestFacts } from '../../openid/request/request-facts.ts'

/** Where a request stands, and who is there. */
export interface RequestState {
  requested: RequestedApplication
  asked: Asked | undefined
  mistake: Mistake | undefined
  /** Who is signed in, in this browser. */
  people: Candidate[]
  /** The one that the request goes on as. */
  chosen: Candidate | undefined
}

export async function requestStateOf(
  context: Context,
  opened: OpenedRequest,
  call: Call,
): Promise<RequestState | Unanswerable> {
  const { row } = opened
  const { parameters, progress } = row
  const reading = isForOwnAccount(parameters)
    ? readOwnRequest(parameters)
    : await readRequest(context, parameters, call)
  if ('notice' in reading) return reading
  const { asked, mistake, ...requested } = { asked: undefined, mistake: undefined, ...reading }
  const facts = requestFacts(asked, row.beganAt, progress)
  const people = await findCandidates(context, requested, { ...opened, stage: 'page', facts }, call)
  const found = people.find(({ signedInUser }) => signedInUser.sessionId === row.sessionId)
  const chosen = progress.asksName
    ? undefined
    : (found ?? chooseAlone(people, asked?.prompts ?? [], parameters.loginHint))
  return { requested, asked, mistake, people, chosen }
}

/** The person whose password alone the page asks for. */
export function fixedPerson(state: RequestState | Unanswerable): Candidate | undefined {
  const chosen = 'chosen' in state ? state.chosen : undefined
  const lack = chosen && 'missing' in chosen.verdict ? chosen.verdict.missing[0].what : undefined
  return lack === 'factor' || lack === 'fresh-factor' ? chosen : undefined
}
