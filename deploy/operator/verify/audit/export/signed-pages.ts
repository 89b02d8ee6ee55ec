import { hash } from 'node:crypto'
import { isSigned, readCheckpoint, type SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type PageHeader, readEntries } from '#lib/eventstore/audit/page'
import type { StoringService } from '../../../../provision.ts'
import { orderProblem } from '../check-checkpoints.ts'
import type { TrustedKeys } from '../kept.ts'

/** The pages of a service that an export tells, with their entries and checkpoints. Nothing replaces what was told. */
export class SignedPages {
  private readonly pages = new Map<number, { header: PageHeader; hash: string }>()
  private readonly entries = new Map<number, Buffer>()
  private readonly checkpoints = new Map<number, SignedCheckpoint>()
  private readonly service: StoringService
  private readonly keys: TrustedKeys
  private readonly say: (row: string, problem: string) => void

  constructor(service: StoringService, keys: TrustedKeys, say: (row: string, problem: string) => void) {
    this.service = service
    this.keys = keys
    this.say = say
  }

  takePage(text: string): void {
    const header = readOr(() => JSON.parse(text) as PageHeader)
    if (header?.service !== this.service) return this.say('a page', 'its header is none of this service')
    if (this.pages.has(header.page)) return this.say(`page ${header.page}`, 'it is told twice')
    this.pages.set(header.page, { header, hash: hash('sha256', text) })
  }

  takeEntries(page: number, text: string): void {
    if (this.entries.has(page)) return this.say(`page ${page}`, 'its entries are told twice')
    this.entries.set(page, Buffer.from(text, 'base64'))
  }

  takeCheckpoint(jws: string): void {
    const signed = readOr(() => readCheckpoint(jws))
    if (signed?.checkpoint.service !== this.service || !isSigned(signed, this.keys(this.service)))
      return this.say('a checkpoint', 'its signature is not that of a given key')
    const { number } = signed.checkpoint
    if (this.checkpoints.has(number)) return this.say(`checkpoint ${number}`, 'it is told twice')
    this.checkpoints.set(number, signed)
  }

  /** Tells what does not fit. Gives when the newest checkpoint was signed that signs a page. */
  judge(): string | undefined {
    const [first] = this.pages.values()
    const signed = [...this.checkpoints.values()]
      .map(({ checkpoint }) => checkpoint)
      .sort((one, other) => one.number - other.number)
    for (const [index, checkpoint] of signed.entries()) {
      const problem = index > 0 ? orderProblem(signed[index - 1]!, checkpoint) : undefined
      if (problem !== undefined) this.say(`checkpoint ${checkpoint.number}`, problem)
      if (!this.pages.has(checkpoint.page))
        this.say(`checkpoint ${checkpoint.number}`, 'it signs no page of the export')
    }
    const proven = this.proven()
    for (const [number, { header, hash: own }] of this.pages) {
      const next = this.pages.get(number + 1)
      if (header.epoch !== first!.header.epoch) this.say(`page ${number}`, 'it is of another epoch')
      if (!proven.has(number)) this.say(`page ${number}`, 'no checkpoint signs it')
      else if (next && next.header.previous !== own)
        this.say(`page ${number + 1}`, 'it does not name the one before it')
      else if (this.entries.has(number) && !this.entriesOf(number))
        this.say(`page ${number}`, 'its entries are not those of its header')
    }
    return signed.at(-1)?.at
  }

  /** The entries of a page by their positions, where its header names them. */
  entriesOf(page: number): Map<string, string> | undefined {
    const bytes = this.entries.get(page)
    if (!bytes || hash('sha256', bytes) !== this.pages.get(page)?.header.entries) return undefined
    return readEntries(bytes)
  }

  // By the checkpoint of the page, or by that of a later one through the headers between.
  private proven(): Set<number> {
    const proven = new Set<number>()
    const signed = new Map([...this.checkpoints.values()].map(({ checkpoint }) => [checkpoint.page, checkpoint]))
    for (const number of [...this.pages.keys()].sort((one, other) => other - one)) {
      const { hash: own } = this.pages.get(number)!
      const checkpoint = signed.get(number)
      const isProven = checkpoint
        ? checkpoint.hash === own
        : proven.has(number + 1) && this.pages.get(number + 1)?.header.previous === own
      if (isProven) proven.add(number)
    }
    return proven
  }
}

function readOr<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
