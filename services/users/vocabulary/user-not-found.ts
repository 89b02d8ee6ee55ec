import { RosterError } from '#lib/errors'

/** The answer where no such user is, or it is none that the operation is for. */
export function userNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
}
