import type { ListClientSecretsRequest, ListClientSecretsResponse } from '#gen/roster/grants/v1/application_service'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import { type Application, livingSecrets } from '../../vocabulary/application.ts'

/** Their last use is known to users. Without its answer there is none, since a secret in use would look unused. */
export async function listClientSecrets(
  { store, users }: Context,
  request: ListClientSecretsRequest,
  call: Call,
): Promise<ListClientSecretsResponse> {
  const application = await store.load<Application>('application', request.appId)
  const { id, state, readAt } = ownApplication(application, request, call)
  const secrets = livingSecrets(state, readAt)
  if (secrets.length === 0) return { secrets: [] }
  const { uses } = await users.listSecretUses({ applicationId: id }, call)
  return {
    secrets: secrets.map(({ secretId, createdAt, expiresAt }) => ({
      secretId,
      creationDate: new Date(createdAt),
      ...(expiresAt !== undefined && { expirationDate: new Date(expiresAt) }),
      lastUseDate: uses.find((use) => use.secretId === secretId)?.time,
    })),
  }
}
