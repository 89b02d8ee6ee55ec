import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DescFile } from '@bufbuild/protobuf'

/** The files of proto that ZITADEL publishes on npm. */
export async function publishedFiles(): Promise<DescFile[]> {
  const folder = fileURLToPath(new URL('../../node_modules/@zitadel/proto/es/zitadel', import.meta.url))
  const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('_pb.js'))
  const loaded = await Promise.all(
    modules.map((name): Promise<Record<string, DescFile>> => import(`${folder}/${name}`)),
  )
  return loaded.flatMap((module) =>
    Object.entries(module)
      .filter(([name]) => name.startsWith('file_'))
      .map(([, file]) => file),
  )
}
