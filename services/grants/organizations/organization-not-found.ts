import { RosterError } from '#lib/errors'

export function organizationNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'There is no such organization.')
}
