import {
  type GetAuthRequestRequest,
  type GetAuthRequestResponse,
  Prompt,
} from '#gen/roster/users/v1/auth_request_service'
import type { Call } from '#lib/rpc/headers'
import { openClientRequest } from './client-request.ts'
import type { Asked } from '../../openid/request/read-parameters.ts'
import { scopeOfOrganization } from '../../openid/request/read-scopes.ts'
import { wordsOf } from '../../openid/request/parameters.ts'
import type { Context } from '../../context.ts'

export async function getAuthRequest(
  context: Context,
  { authRequestId }: GetAuthRequestRequest,
  call: Call,
): Promise<GetAuthRequestResponse> {
  const { row, reading } = await openClientRequest(context, authRequestId, call)
  const { clientId, redirectUri, prompt, uiLocales, loginHint, scope } = row.parameters
  // One that cannot be read asks for nothing but an answer.
  const asked = 'asked' in reading ? reading.asked : undefined
  return {
    authRequest: {
      id: row.id,
      creationDate: row.beganAt,
      clientId,
      scope: asked ? scopesOf(asked) : wordsOf(scope),
      redirectUri,
      prompt: wordsOf(prompt).flatMap((word) => prompts[word] ?? []),
      uiLocales: wordsOf(uiLocales),
      loginHint: loginHint || undefined,
      maxAge: asked?.maxAge === undefined ? undefined : { seconds: asked.maxAge, nanos: 0 },
      hintUserId: asked?.hintedUser,
      acrValues: asked?.acr?.values ?? [],
      acrIsEssential: asked?.acr?.isEssential ?? false,
      applicationName: reading.application.name,
    },
  }
}

// A login application knows by the scope whose people alone may come, and whose look its pages have.
function scopesOf({ scopes, claimScopes, organizationScope }: Asked): string[] {
  const only = organizationScope === undefined ? [] : [scopeOfOrganization(organizationScope)]
  return [...new Set([...scopes, ...claimScopes, ...only])]
}

const prompts: Record<string, Prompt | undefined> = {
  none: Prompt.PROMPT_NONE,
  login: Prompt.PROMPT_LOGIN,
  consent: Prompt.PROMPT_CONSENT,
  select_account: Prompt.PROMPT_SELECT_ACCOUNT,
}
