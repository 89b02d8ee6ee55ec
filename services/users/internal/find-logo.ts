import type { FindLogoRequest, FindLogoResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import { findLogo as find } from '../sessions/login-policy/logos.ts'

export async function findLogo({ sql }: Pick<Context, 'sql'>, { hash }: FindLogoRequest): Promise<FindLogoResponse> {
  return { content: await find(sql, hash) }
}
