import { join } from 'node:path'
import { containerfileOf } from '../../bundle/check-folder.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import { failure, wrongUsage } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { showNextSteps } from '../new-files.ts'
import { renderResult } from '../render/fields.ts'
import { type EngineName, findEngine, readWritten } from './image-engine.ts'
import { parseImageName } from './image-name.ts'
import { readUsableSpec } from './spec-file.ts'

export interface BuildOptions {
  readonly folder: string
  readonly tag?: string
  readonly engine?: EngineName
  readonly buildArg?: readonly string[]
  readonly output: 'json' | 'text'
}

/** The longest argument that Linux takes. */
const longestArgument = 128 * 1024

/** Makes an image of a bundle's folder, with the labels that registries read. */
export async function buildBundle(io: CliIo, options: BuildOptions): Promise<void> {
  const { spec, text, folder } = await readUsableSpec(options.folder, io.cwd, 'an image is built from a folder')
  const containerfile = containerfileOf(folder)
  if (containerfile === undefined)
    throw failure({
      what: `${options.folder} has nothing to build an image with`,
      why: 'it has neither a Containerfile nor a Dockerfile',
      next: 'Write one; purser bundle init in another folder shows how.',
    })
  const image = options.tag ?? defaultName(spec)
  parseImageName(image)
  const label = `com.redhat.apb.spec=${Buffer.from(text).toString('base64')}`
  if (label.length >= longestArgument)
    throw failure({
      what: 'the spec is too long for a label',
      why: `it has ${Buffer.byteLength(text)} bytes, and may have some 95,000`,
      next: 'Shorten it: schemas can share what they have in common.',
    })
  const engine = await findEngine(io, options.engine)
  io.stderr.write(`building ${image} with ${engine.name}\n`)
  const id = await readWritten(file =>
    engine.run({
      args: [
        'build',
        // The others keep what has not changed by themselves.
        ...(engine.name === 'buildah' ? ['--layers'] : []),
        ...['--file', join(folder, containerfile), '--tag', image, '--iidfile', file],
        ...['--label', label, '--label', 'com.redhat.bundle.runtime=2'],
        ...(options.buildArg ?? []).flatMap(arg => ['--build-arg', arg]),
        folder,
      ],
      what: `${engine.name} could not build the image`,
      next: `What it printed is above. Correct ${containerfile} and run it again.`,
    }),
  )
  const result = { image, image_id: id, engine: engine.name, built_with: containerfile }
  io.stdout.write(renderResult(result, options.output))
  showNextSteps(io, [
    `purser bundle run provision ${options.folder} --image ${image}`,
    `purser bundle push ${options.tag ?? '<registry>/<name>:<tag>    # built with --tag'}`,
  ])
}

function defaultName({ name, bundleVersion = 'latest' }: BundleSpec): string {
  // A version may have a plus sign, and a tag may not.
  const image = `localhost/${name}:${bundleVersion.replace(/[^\w.-]/g, '-')}`
  try {
    parseImageName(image)
    return image
  } catch {
    throw wrongUsage({
      what: `the name of the bundle, "${name}", cannot be that of an image`,
      why: 'an image has small letters, digits, and . _ - inside',
      next: 'Name the image with --tag.',
    })
  }
}
