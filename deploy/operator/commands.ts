import type { Command } from './command.ts'
import { parkedCommands } from './parked/parked-commands.ts'
import { status } from './status/status.ts'

/** Every command, as the help shows them. */
export const commands: Command[] = [status, ...parkedCommands]
