import type { Output } from './output.ts'
import type { System } from './system.ts'

/** A command of the operator. */
export interface Command {
  /** One or two words. */
  name: string
  /** Another name of the command, by the trade's word. */
  alias?: string
  /** What follows the name, such as `ID…`. */
  takes?: string
  /** One sentence. */
  summary: string
  /** Lines for the command's own help. */
  more?: string[]
  /** Its options by their names. */
  options?: Record<string, Option>
  /** The fewest and the most arguments. */
  arguments: [least: number, most: number]
  /** It changes something in PostgreSQL. The sessions of others only read. */
  mayWrite?: boolean
  /** It only reads PostgreSQL, and yet a standby does not do for it, always or with these options. */
  needsPrimary?: (options: Called['options']) => boolean
  /** Can do nothing without NATS, always or with these options. Other commands need it for a part, or not at all. */
  needsNats?: (options: Called['options']) => boolean
  /** Shows itself why nothing should be written to PostgreSQL. */
  showsObstacle?: boolean
  /** Works without servers, always or with these options. */
  isOffline?: (options: Called['options']) => boolean
  /** Returns the exit status: 0 where all is well, 1 where it found something. */
  run(call: Called): Promise<number>
}

/** An option: the help shows it, and no other one is taken. */
export interface Option {
  /** What follows it, such as `FILE`. Nothing follows a switch. */
  takes?: string
  /** What it does, in words that follow its name. */
  does: string
  /** Options without which it means nothing, and others with which it means nothing. It is refused then. */
  goesWith?: string[]
  notWith?: string[]
}

/** What a command is run with. */
export interface Called {
  system: System
  output: Output
  env: Record<string, string | undefined>
  args: string[]
  options: Record<string, string | boolean | string[] | undefined>
  /** Why nothing should be written to PostgreSQL, where that is so. */
  obstacle: Promise<string | undefined>
  /** Returns if the user agrees, and else throws a Refusal. */
  confirm(question: string): Promise<void>
}
