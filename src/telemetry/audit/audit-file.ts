// The file of audit lines: taken up where its chain ends, appended to, put on the disk, and set aside when it is full.
// A write that fails halfway leaves nothing behind, so that what is written again stands there once.
import { type FileHandle, open, rename } from 'node:fs/promises';
import { type ChainHead, headOf } from './audit-chain.ts';
import { type FileLock, lockFile } from './file-lock.ts';

/** More than the longest record: the line feed before the last line is in it. */
const TAIL_BYTES = 256 * 1024;
const LINE_START = '{"seq":';
const LINE_FEED = 0x0a;

export interface OpenedAuditFile {
  readonly file: AuditFile;
  /** Undefined in a new file, and where the last line is none of a chain. */
  readonly head: ChainHead | undefined;
  /** Bytes of a line that was never finished, and is gone. */
  readonly tornBytes: number;
}

export class AuditFile {
  readonly #path: string;
  readonly #lock: FileLock;
  #handle: FileHandle;
  #bytes: number;

  private constructor(path: string, parts: { lock: FileLock; handle: FileHandle; bytes: number }) {
    this.#path = path;
    this.#lock = parts.lock;
    this.#handle = parts.handle;
    this.#bytes = parts.bytes;
  }

  /** @throws Error where the file cannot be had, or another process has it */
  static async open(path: string): Promise<OpenedAuditFile> {
    const lock = await lockFile(path);
    try {
      const handle = await openForAppend(path);
      const { size } = await handle.stat();
      const { lastLine, torn, wholeBytes } = await readTail(handle, size);
      const head = headOf(lastLine);
      // Somebody else's file is neither ours to cut nor to go on with.
      if (
        (lastLine !== '' && head === undefined) ||
        !LINE_START.startsWith(torn.slice(0, LINE_START.length))
      ) {
        await handle.close();
        throw new Error(`${path} is no audit log; give audit.file another name`);
      }
      if (wholeBytes < size) await handle.truncate(wholeBytes);
      const file = new AuditFile(path, { lock, handle, bytes: wholeBytes });
      return { file, head, tornBytes: size - wholeBytes };
    } catch (thrown) {
      await lock.release();
      throw thrown;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends whole lines and puts them on the disk; on failure none of them is in the file. */
  async append(bytes: Buffer): Promise<void> {
    try {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await this.#handle.write(
          bytes,
          written,
          bytes.length - written,
          this.#bytes + written,
        );
        written += bytesWritten;
      }
      await this.#handle.datasync();
      this.#bytes += bytes.length;
    } catch (thrown) {
      await this.#handle.truncate(this.#bytes).catch(() => undefined);
      throw thrown;
    }
  }

  /** Gives the file a name of its own and begins a new one. */
  async rotate(suffix: string): Promise<void> {
    await rename(this.#path, `${this.#path}.${suffix}`);
    const handle = await openForAppend(this.#path);
    await this.#handle.close();
    this.#handle = handle;
    this.#bytes = 0;
  }

  async close(): Promise<void> {
    await this.#handle.close();
    await this.#lock.release();
  }
}

/** Who did what is for few to read. */
function openForAppend(path: string): Promise<FileHandle> {
  return open(path, 'r+', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return open(path, 'wx+', 0o600);
    throw error;
  });
}

/** The last whole line, and what stands behind it. */
async function readTail(
  handle: FileHandle,
  size: number,
): Promise<{ readonly lastLine: string; readonly torn: string; readonly wholeBytes: number }> {
  const start = Math.max(0, size - TAIL_BYTES);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
  const tail = buffer.subarray(0, bytesRead);
  const end = tail.lastIndexOf(LINE_FEED);
  const begin = end <= 0 ? -1 : tail.lastIndexOf(LINE_FEED, end - 1);
  return {
    lastLine: tail.subarray(begin + 1, Math.max(end, 0)).toString(),
    torn: tail.subarray(end + 1).toString(),
    wholeBytes: start + end + 1,
  };
}
