import type { FindPageBrandRequest, FindPageBrandResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import type { KeptParameters } from '../openid/request/parameters.ts'
import { organizationOfPages } from '../openid/request/request-organization.ts'
import { brandOf } from '../pages/sign-in/branded.ts'
import { openRequest, type Purpose, signingIn } from '../pages/sign-in/opened-request.ts'

const anything: Purpose<KeptParameters> = {
  ...signingIn,
  isOf: (parameters): parameters is KeptParameters => parameters !== undefined,
}

/** Whoever names a request of another browser learns nothing of it. */
export async function findPageBrand(
  context: Context,
  { organizationId, ...request }: FindPageBrandRequest,
): Promise<FindPageBrandResponse> {
  const opened = request.requestId === '' ? undefined : await openRequest(context, request, anything)
  const id = opened ? await organizationOfPages(context, { scope: '', ...opened.row.parameters }) : organizationId
  return { brand: await brandOf(context, id) }
}
