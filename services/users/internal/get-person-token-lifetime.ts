import type { GetPersonTokenLifetimeResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'

export async function getPersonTokenLifetime({ config }: Context): Promise<GetPersonTokenLifetimeResponse> {
  return { lifetime: config.PERSON_TOKEN_LIFETIME }
}
