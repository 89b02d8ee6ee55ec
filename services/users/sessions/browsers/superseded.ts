import { RosterError } from '#lib/errors'

/** Another tab was faster. No caller gets this error: the page that comes next says what is so now. */
export class Superseded extends RosterError {
  constructor() {
    super('ABORTED', 'OVERTAKEN', 'Another answer was faster.')
  }
}
