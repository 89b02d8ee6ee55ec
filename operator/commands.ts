import type { Command } from './command.ts'
import { checkpoints } from './checkpoints.ts'
import { exportOrganization } from './export/export.ts'
import { erasureReport } from './erasure/erasure-report.ts'
import { receipt } from './erasure/receipt.ts'
import { rotateKeys } from './keys/rotate-keys.ts'
import { deadLetterCommands } from './dead-letters.ts'
import { sessionsEnd } from './end-sessions.ts'
import { historyCommands } from './history.ts'
import { repeatRemovals } from './removals/repeat-removals.ts'
import { republish } from './republish.ts'
import { setupCommands } from './setup.ts'
import { status } from './status/status.ts'
import { verify } from './verify/verify.ts'

/** Every command, as the help shows them. */
export const commands: Command[] = [
  status,
  ...deadLetterCommands,
  republish,
  ...historyCommands,
  verify,
  checkpoints,
  exportOrganization,
  erasureReport,
  receipt,
  rotateKeys,
  sessionsEnd,
  repeatRemovals,
  ...setupCommands,
]
