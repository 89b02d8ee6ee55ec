import { RosterError } from '#lib/errors'

/** The error where the user does not exist, or is not of the kind that the operation is for. */
export function userNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
}
