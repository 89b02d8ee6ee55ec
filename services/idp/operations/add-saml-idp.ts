import type { AddSAMLIDPRequest, AddSAMLIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import type { Context } from '../context.ts'
import { checkMetadata, readMetadata } from '../saml-metadata.ts'

export const addSamlIdp = {
  check: checkMetadata,

  async handle(context: Context, request: AddSAMLIDPRequest, call: Call): Promise<AddSAMLIDPResponse> {
    const { metadata, binding, withSignedRequest, nameIdFormat } = request
    const configuration = { ...readMetadata(metadata!), binding, withSignedRequest, nameIdFormat }
    return addIdp(context, call, 'saml', request, configuration)
  },
}
