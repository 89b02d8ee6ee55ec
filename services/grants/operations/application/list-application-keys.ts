import type { ListApplicationKeysRequest, ListApplicationKeysResponse } from '#gen/roster/grants/v1/application_service'
import { fromJoseName } from '#lib/credentials/key-algorithms'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import { type Application, livingKeys } from '../../vocabulary/application.ts'

export async function listApplicationKeys(
  { store }: Context,
  request: ListApplicationKeysRequest,
  call: Call,
): Promise<ListApplicationKeysResponse> {
  const { state, readAt } = ownApplication(await store.load<Application>('application', request.appId), request, call)
  return {
    keys: livingKeys(state, readAt).map(({ keyId, algorithm, publicKey, createdAt, expiresAt }) => ({
      keyId,
      algorithm: fromJoseName(algorithm),
      publicKey: JSON.stringify(publicKey),
      creationDate: new Date(createdAt),
      ...(expiresAt !== undefined && { expirationDate: new Date(expiresAt) }),
    })),
  }
}
