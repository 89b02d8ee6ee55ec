import { build as buildClient, documentedCommands } from '../build.ts'

/** Makes a client from the document by the commands of docs/clients.md, beside the program of the folder `name` here. */
export function build(name: string, document: string, ...parts: string[]): Promise<string> {
  return buildClient(`openapi/${name}`, { 'openapi.json': document }, parts.map(documentedCommands).join('\n'))
}
