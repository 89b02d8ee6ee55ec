import { createHash } from 'node:crypto'
import type {
  FinishProviderTrialRequest,
  FinishProviderTrialResponse,
  TrialWord,
} from '#gen/roster/idp/v1/internal_service'
import { countUse } from '#lib/eventstore/count-use'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { mappingOf, readClaims, wordsOf } from '../../protocols/claims.ts'
import { type Proved, UpstreamError } from '../../protocols/protocol.ts'
import { callbackOf } from '../../protocols/redirect-uri.ts'
import { signingInWork } from '../../protocols/registry.ts'
import { matchedRows } from '../../protocols/role-rows.ts'
import { upstreamOf } from '../../protocols/upstream-of.ts'
import { openTrial, trialFor } from '../../trials.ts'
import type { Idp } from '../../vocabulary.ts'

/** Milliseconds that the answer takes back to the caller. */
const answerTakes = 500
/** Characters of the claims that are shown. */
const mostShown = 20_000

export async function finishProviderTrial(
  context: Context,
  { idpId, state, answer, tokens, userIds, cameTo }: FinishProviderTrialRequest,
  call: Call,
): Promise<FinishProviderTrialResponse> {
  const trial = await openTrial(context, state)
  const found = trial && (await context.store.load<Idp>('idp', trial.idpId))
  const work = found && signingInWork(found.state)
  const isThere = found && cameTo === callbackOf(found.state) && ['', trial.idpId].includes(idpId)
  const isTheirs = isThere && userIds.includes(trial.userId)
  if (!trial || !isTheirs || !work || found.state.removed || found.organizationId !== trial.organizationId)
    return { ...nothing, unknown: true }
  // Before the provider is asked: it gets the code once.
  const key = `idp trial ${createHash('sha256').update(state).digest('base64url')}`
  if (await countUse(context.sql, { key, limits: [{ most: 1, seconds: trialFor }] }))
    return { ...nothing, unknown: true }
  const idp = found.state
  const upstream = await upstreamOf(context, trial.idpId, idp, call.deadline - Date.now() - answerTakes)
  const begun = { state, nonce: trial.nonce, codeVerifier: trial.codeVerifier }
  try {
    return {
      ...nothing,
      name: idp.name,
      ...shown(idp, await work.callback(upstream, begun, {}, new URLSearchParams(answer), tokens)),
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { ...nothing, name: idp.name, problem: error.message }
  }
}

const nothing: FinishProviderTrialResponse = {
  unknown: false,
  name: '',
  problem: '',
  issuer: '',
  subject: '',
  claims: '',
  words: [],
  secondFactors: [],
  roleRows: [],
}

function shown({ claims: settings, roleRows = [] }: Idp, { issuer, subject, said, claims, methods }: Proved) {
  const words = wordsOf(methods)
  return {
    issuer,
    subject,
    claims: JSON.stringify(said, null, 2).slice(0, mostShown),
    words: wordsRead(settings?.mapping, claims),
    secondFactors: wordsOf(settings?.secondFactor).filter((word) => words.includes(word)),
    roleRows: matchedRows(roleRows, said),
  }
}

// What of it was read: what is no text, or too long, was not.
function wordsRead(mapping: Parameters<typeof mappingOf>[0], read: ReturnType<typeof readClaims>): TrialWord[] {
  const values = {
    userName: read.preferredUsername,
    givenName: read.givenName,
    familyName: read.familyName,
    displayName: read.name,
    nickName: read.nickName,
    email: read.email,
    emailVerified: read.emailVerified && 'true',
    language: read.locale,
  }
  return Object.entries(mappingOf(mapping)).map(([part, claim]) => ({
    part,
    claim,
    value: values[part as keyof typeof values] ?? '',
  }))
}
