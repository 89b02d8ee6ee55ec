import { isDeepStrictEqual } from 'node:util'
import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import type { ApplicationConfig, ApplicationEvent } from '../vocabulary/application.ts'

/** The decision that an application has these settings from now on. */
export function changedConfig(former: ApplicationConfig, config: ApplicationConfig): Decision<ApplicationEvent> {
  if (isDeepStrictEqual(former, config)) return { events: [], answer: undefined }
  return { events: [{ type: 'config.changed', payload: config }], answer: undefined }
}

/** FAILED_PRECONDITION: the application has settings of the other type. */
export function typeMismatch(): RosterError {
  return new RosterError('FAILED_PRECONDITION', 'APPLICATION_TYPE_MISMATCH', 'The application is of another type.')
}
