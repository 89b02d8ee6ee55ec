import { hash } from 'node:crypto'
import { type AuditKey, isSigned, readCheckpoint } from '#lib/audit-log/checkpoint'
import { type PageHeader, readEntries } from '#lib/audit-log/page'
import type { StoringService } from '../../../../deploy/provision.ts'

/**
 * The pages of a service in an export. Headers and entries are known by their hashes, so none can take the place
 * of another one.
 */
export class SignedPages {
  /** When the newest checkpoint was signed that signs a page of the export. */
  newest = ''
  private readonly headers = new Map<string, PageHeader>()
  private readonly entries = new Map<string, Buffer>()
  /** When the checkpoint of a page was signed, by the hash of the page. */
  private readonly signed = new Map<string, string>()
  private readonly service: StoringService
  private readonly keys: AuditKey[]
  private readonly say: (row: string, problem: string) => void

  constructor(service: StoringService, keys: AuditKey[], say: (row: string, problem: string) => void) {
    this.service = service
    this.keys = keys
    this.say = say
  }

  takePage(text: string): void {
    this.headers.set(hash('sha256', text), JSON.parse(text) as PageHeader)
  }

  takeEntries(text: string): void {
    const bytes = Buffer.from(text, 'base64')
    this.entries.set(hash('sha256', bytes), bytes)
  }

  takeCheckpoint(jws: string): void {
    const signed = readCheckpoint(jws)
    const { service, hash: page, at } = signed.checkpoint
    if (service !== this.service || !isSigned(signed, this.keys))
      return this.say('a checkpoint', 'its signature is not that of a given key')
    this.signed.set(page, at)
  }

  /** The entries of each page that is signed, by their positions: by its checkpoint, or by that of a later page. */
  judge(): Map<number, Map<string, string>> {
    const proven = new Map<number, { header: PageHeader; own: string }>()
    for (const [signed, at] of this.signed) {
      let own = signed
      for (let header = this.headers.get(own); header; header = this.headers.get(own)) {
        if (own === signed && at > this.newest) this.newest = at
        const other = proven.get(header.page)
        if (other?.own === own) break
        if (other) this.say(`page ${header.page}`, 'two of this number are signed')
        proven.set(header.page, { header, own })
        own = header.previous
      }
    }
    const all = [...proven.values()].map(({ header }) => header)
    for (const { page, epoch } of all) if (epoch !== all[0]!.epoch) this.say(`page ${page}`, 'it is of another epoch')
    return new Map(all.map(({ page, entries }) => [page, readEntries(this.entries.get(entries) ?? Buffer.alloc(0))]))
  }
}
