import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { confirmFault, loadApplication } from '../applications/find-application.ts'
import type { Context } from '../../context.ts'
import { mistake } from './mistakes.ts'
import { isSilent, type Parameters } from './parameters.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { organizationOfRequest } from './request-organization.ts'
import { registeringOrganization } from './registering-organization.ts'
import { readHint } from '../tokens/id-token.ts'
import { type Reading, readParameters } from './read-parameters.ts'

/** The application of a request, and what it asks for. Before a refusal grants is asked, for the copy may be old. */
export async function readRequest(context: Context, parameters: Parameters, call: Call): Promise<Reading> {
  let reading = readParameters(parameters, undefined)
  const { clientId } = parameters
  if (!/^[!-~]{1,200}$/.test(clientId)) return reading
  const copy = await loadApplication(context, { clientId })
  await confirmFault(context, { clientId }, copy, call, (known) => {
    reading = readParameters(parameters, known)
    return 'asked' in reading ? undefined : reading
  })
  if (!('asked' in reading)) return reading
  const { asked: unhinted, ...requested } = reading
  const isHinted = parameters.idTokenHint !== ''
  // Another client's ID token is no hint, nor is one of a former issuer.
  const hint = isHinted ? await readHint(context, parameters.idTokenHint, clientId) : undefined
  // A page shows who signs in. Without one it would not be seen that it is not the person who was meant.
  if (isHinted && !hint && isSilent(parameters)) return { ...requested, mistake: hintUnknown }
  const asked = hint ? { ...unhinted, hintedUser: meantByBoth(unhinted.hintedUser, hint.sub) } : unhinted
  const { idpId } = asked
  if (idpId !== undefined) {
    const { providers } = await loadLoginPolicy(context, organizationOfRequest(parameters.scope, requested))
    if (!providers.some((one) => one.idpId === idpId)) return { ...requested, mistake: providerUnknown }
  }
  if (!asked.prompts.includes('create')) return { ...requested, asked }
  // Where registration is closed, it is as if the application had not asked for it.
  const may = (await registeringOrganization(context, { asked, project: reading.project })) !== undefined
  return { ...requested, asked: { ...asked, prompts: asked.prompts.filter((prompt) => may || prompt !== 'create') } }
}

const providerUnknown = mistake('scope', ParameterRule.PARAMETER_RULE_SCOPE_PROVIDER, [], 'invalid_scope')
const hintUnknown = mistake('id_token_hint', ParameterRule.PARAMETER_RULE_ID_TOKEN, [], 'login_required')

// Two hints that name different users match no one.
function meantByBoth(hinted: string | undefined, sub: string): string {
  return hinted === undefined || hinted === sub ? sub : ''
}
