import type { Call } from '#lib/rpc/headers'
import { canonicalName } from '#lib/search/canonical-name'
import type { Browser } from '../../sessions/browsers/session-cookie.ts'
import { sessionsOf } from '../../sessions/browsers/browser-sessions.ts'
import type { Context } from '../../context.ts'
import { isKnownTo, judge, type Verdict } from '../judge/judge.ts'
import type { RequestFacts } from '../judge/facts.ts'
import { meantName } from '../../directory/meant-name.ts'
import { knownName, type User } from '../../directory/events/user.ts'
import { factsFrom, type LoadedUser, loadSignedInUser } from './facts-of.ts'
import type { RequestedApplication } from '../request/read-parameters.ts'

/** A person who is signed in, in this browser. */
export interface Candidate extends LoadedUser {
  verdict: Verdict
  /** The application may know who it is: the person let it in, or need not be asked. */
  isKnown: boolean
  /** The person stays signed in. */
  isKept: boolean
  user: User
  userName: string
  /** What pages show. */
  knownName: string
  displayName: string
  email: string
}

/** Who is signed in, in this browser, the last one first. */
export async function findCandidates(
  context: Context,
  { application, project }: RequestedApplication,
  { browser, now, stage, facts: request }: Viewpoint,
  call: Call,
): Promise<Candidate[]> {
  const found = await Promise.all(
    sessionsOf(browser, application.id).map(async (session): Promise<Candidate | undefined> => {
      const unloaded = { ...session, application, project, browserId: browser!.id }
      const { signedInUser, reads } = await loadSignedInUser(context, unloaded, call)
      const facts = factsFrom(signedInUser, reads, request, now)
      const user = reads.user.state
      if (!user?.human || !facts.session?.isAlive) return undefined
      const { userName, human } = user
      const { displayName } = human.profile
      const verdict = judge(stage, facts, now)
      const isKnown = isKnownTo(application, facts)
      const shown = { user, userName, knownName: knownName(user), displayName, email: human.email }
      return { signedInUser, reads, verdict, isKnown, isKept: facts.session.kept, ...shown }
    }),
  )
  return found.filter((candidate) => candidate !== undefined)
}

interface Viewpoint {
  browser: Browser | undefined
  now: Date
  stage: 'page' | 'silent'
  facts: RequestFacts
}

/** Whether `judge` takes the person, whatever else has to be asked. */
export function isAdmitted({ verdict }: Candidate): boolean {
  return !('shutOut' in verdict)
}

/** The only one that can be meant; `several`, or none. */
export function chooseSilently(candidates: Candidate[]): Candidate | 'several' | undefined {
  const able = candidates.filter(isAdmitted)
  const last = able.find(({ signedInUser: { use } }) => use !== 'other')
  return last ?? (able.length > 1 ? 'several' : able[0])
}

/** The one that goes on without a choice. A hint for another person leaves the choice to the person. */
export function chooseAlone(candidates: Candidate[], prompts: string[], loginHint: string): Candidate | undefined {
  const [first, ...others] = candidates.filter(isAdmitted)
  const isAlone =
    first && others.length === 0 && !prompts.some((prompt) => ['select_account', 'create'].includes(prompt))
  return isAlone && (loginHint === '' || isMeant(first, loginHint)) ? first : undefined
}

/** Whether a hint of a login name means this person. */
export function isMeant({ userName, email }: Candidate, hint: string): boolean {
  const [typed, ...names] = [meantName(hint), userName, email].map(canonicalName)
  return names.includes(typed!) || typed!.startsWith(`${names[0]!}@`)
}
