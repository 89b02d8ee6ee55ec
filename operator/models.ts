import type { Vocabulary } from '#lib/eventstore/vocabulary'
import { model as grants } from '../services/grants/model.ts'
import { model as idp } from '../services/idp/model.ts'
import { model as notifier } from '../services/notifier/model.ts'
import { model as users } from '../services/users/model.ts'
import type { StoringService } from '../deploy/provision.ts'

/** What each service knows of its aggregates. */
export const models: Record<StoringService, Vocabulary> = { users, grants, idp, notifier }
