import type { GrantsApplication } from '#gen/console/api'
import { Quiet } from '../pieces/problem.tsx'
import { KeyList } from './key-list.tsx'
import { SecretList } from './secret-list.tsx'
import { secretWords as t } from './secret-words.ts'

/** What an application proves by who it is: secrets, keys, or nothing. */
export function Secrets({ application }: { application: GrantsApplication }) {
  const { oidcConfig, apiConfig } = application
  const method = oidcConfig ? (oidcConfig.authMethodType ?? 'OIDC_AUTH_METHOD_TYPE_BASIC') : apiConfig?.authMethodType
  if (method === 'OIDC_AUTH_METHOD_TYPE_NONE')
    return (
      <div class="card">
        <Quiet>{t.noSecrets}</Quiet>
      </div>
    )
  const hasKeys =
    method === 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' || method === 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT'
  return hasKeys ? <KeyList application={application} /> : <SecretList application={application} />
}
