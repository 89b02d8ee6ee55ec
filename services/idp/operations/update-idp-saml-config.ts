import type {
  UpdateIDPSAMLConfigRequest,
  UpdateIDPSAMLConfigResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeConfiguration } from '../change-idp.ts'
import type { Context } from '../context.ts'
import { checkMetadata, readMetadata } from '../saml-metadata.ts'

export const updateIdpSamlConfig = {
  check: checkMetadata,

  async handle(
    context: Context,
    request: UpdateIDPSAMLConfigRequest,
    call: Call,
  ): Promise<UpdateIDPSAMLConfigResponse> {
    const { idpId, metadata, binding, withSignedRequest, nameIdFormat } = request
    const { metadataXml, metadataUrl } = metadata ? readMetadata(metadata) : {}
    const changes = { metadataXml, metadataUrl, binding, withSignedRequest, nameIdFormat }
    return changeConfiguration(context, idpId, call, 'saml', changes)
  },
}
